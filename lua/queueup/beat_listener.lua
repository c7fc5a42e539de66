-- @command   beat_listener
-- @summary   A user has a live connection: as a guest or the host of a listening session, the user is still there.
-- @allow     worker
-- @heartbeat 20 s
-- @arg       userId id
-- @key       listening user:{userId}#listening
-- @calls     beat_guest, beat_host
-- @returns   {guest: bool, host: bool}
-- @cost      O(1)
-- @weight    100

local found = read('HMGET', key.listening, 'session', 'guest', 'host')
local is_guest, is_host = found[2] == '1', found[3] == '1'
if not found[1] or not is_id(found[1]) then is_guest, is_host = false, false end
if is_guest then later('beat_guest', {sessionId = found[1], userId = args.userId}) end
if is_host then later('beat_host', {sessionId = found[1], userId = args.userId}) end
return {guest = is_guest, host = is_host}
