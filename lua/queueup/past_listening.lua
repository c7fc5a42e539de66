-- @command  past_listening
-- @summary  The listening sessions that a user has taken part in lately, newest first.
-- @http     GET /api/v1/sessions/history
-- @allow    user|service
-- @arg      userId user
-- @key      past      user:{userId}#past
-- @key      listening user:{userId}#listening
-- @returns  {sessions: [{id: string, join_code: string, joined_at: string, is_current: bool}]}
-- @cost     O(n) in the sessions told, at most 50
-- @weight   400
-- @rate     60/60 s user
-- @rate     5/1 s user
-- @readonly
--
-- The newest 50 of the last 90 days. The songs of one are told by `listening_history` as long as the session lives.

local entries, sessions = read('ZREVRANGE', key.past, 0, SESSIONS_USER_MAX - 1, 'WITHSCORES'), array()
local current = read('HGET', key.listening, 'session')
for index = 1, #entries, 2 do
  local id, code = string.match(entries[index], '^(%S+) (%S+)$')
  local ms = integer(entries[index + 1], 0, YEAR_9999_MS)
  if id and ms then
    sessions[#sessions + 1] = {id = id, join_code = code, joined_at = iso(ms), is_current = id == current}
  end
end
return {sessions = sessions}
