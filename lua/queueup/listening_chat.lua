-- @command  listening_chat
-- @summary  What was said last in the user's listening session, oldest first.
-- @http     GET /api/v1/sessions/chat
-- @allow    user|service
-- @arg      limit  int 1..100 = 100
-- @arg      userId user -- who asks
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      chat    session:{sessionId}#chat
-- @returns  {session_id, messages}
-- @errors   no_session 404
-- @cost     O(n) in the messages told, at most 100
-- @weight   1500
-- @rate     60/60 s user
-- @rate     5/1 s user
-- @readonly
--
-- The newest messages of together at most PAGE_BYTES_MAX are told.

local PAGE_BYTES_MAX = 32768

own_session()
local newest, bytes = {}, 0
for _, text in ipairs(read('LRANGE', key.chat, 0, args.limit - 1)) do
  bytes = bytes + #text
  if bytes > PAGE_BYTES_MAX then break end
  local message = decode(text)
  if type(message) == 'table' and type(message.id) == 'string' then newest[#newest + 1] = text end
end
local messages = {}
for index = #newest, 1, -1 do messages[#messages + 1] = raw(newest[index]) end
return {session_id = args.sessionId, messages = array(messages)}
