-- @command  note_host
-- @summary  Note with a user whether the user leads the listening session, so that it hears of the user's presence.
-- @allow    worker
-- @arg      userId    id
-- @arg      sessionId id
-- @arg      leads     bool
-- @key      listening user:{userId}#listening
-- @calls    beat_host
-- @returns  {noted: bool}
-- @cost     O(1)
-- @weight   150
-- @idempotent
--
-- Late words do no harm: the session itself says who leads it (beat_host.lua).

if read('HGET', key.listening, 'session') ~= args.sessionId then return {noted = false} end
write('HSET', key.listening, 'host', args.leads and '1' or '0')
if args.leads then later('beat_host', {sessionId = args.sessionId, userId = args.userId}) end
return {noted = true}
