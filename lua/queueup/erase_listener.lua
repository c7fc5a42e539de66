-- @command  erase_listener
-- @summary  Erase a user from the listening sessions: ballots, requests, messages, and the name on songs.
-- @allow    service|worker
-- @arg      userId user
-- @erases
-- @include  version
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @key      version   user:{userId}#version
-- @calls    depart, forget_listener
-- @returns  {sessions: int} -- how many sessions hold something of the user
-- @cost     O(n) in the user's sessions of the last day, at most 50
-- @weight   500
--
-- Each session forgets by the outbox (forget_listener.lua).

local former = read('HMGET', key.listening, 'session', 'tag', 'code', 'at')
if former[1] and former[2] and former[3] then
  later('depart', {sessionId = former[1], userId = args.userId, tag = former[2], code = former[3]})
end
local sessions = read('ZRANGE', key.sessions, 0, 49)
for _, session in ipairs(sessions) do later('forget_listener', {sessionId = session, userId = args.userId}) end
write('UNLINK', key.listening, key.sessions, key.past)
if homes_apart then
  -- What a session begins before this and ends after it is undone (take_listening.lua).
  local at = decimal(math.max((integer(former[4], 0, INTEGER_MAX) or 0) + 1, now_ms))
  write('HSET', key.listening, 'at', at, 'erased', at)
  write('PEXPIRE', key.listening, SESSION_MS)
  write('EXPIRE', key.version, LATE_S)
end
return {sessions = #sessions}
