-- @command   beat_listener
-- @summary   A user has a live connection: as a guest of a listening session, the user is still there.
-- @allow     worker
-- @heartbeat 20 s
-- @arg       userId id
-- @key       listening user:{userId}#listening
-- @calls     beat_guest
-- @returns   {guest}
-- @cost      O(1)
-- @weight    100

local found = read('HMGET', key.listening, 'session', 'guest')
if not found[1] or found[2] ~= '1' or not is_id(found[1]) then return {guest = false} end
later('beat_guest', {sessionId = found[1], userId = args.userId})
return {guest = true}
