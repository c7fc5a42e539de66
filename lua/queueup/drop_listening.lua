-- @command  drop_listening
-- @summary  End a user's stay in one listening session: the step of end_visit.lua at the user's home.
-- @allow    worker
-- @arg      userId    id
-- @arg      sessionId id
-- @arg      tag       id -- of the stay
-- @include  going
-- @key      listening user:{userId}#listening
-- @calls    depart
-- @returns  {dropped: bool}
-- @cost     O(1)
-- @weight   150
-- @idempotent

local former = read('HMGET', key.listening, 'session', 'tag', 'code', 'at')
if former[1] ~= args.sessionId or former[2] ~= args.tag then return {dropped = false} end
let_go(former)
return {dropped = true}
