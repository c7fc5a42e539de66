-- @command  listening_chat
-- @summary  What was said last in the user's listening session, oldest first.
-- @http     GET /api/v1/sessions/chat
-- @allow    user|service
-- @arg      limit  int 1..100 = 100
-- @arg      userId user -- who asks
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      apart   session:{sessionId}#apart
-- @key      chat    session:{sessionId}#chat
-- @returns  {session_id: string, messages: [chat_message]}
-- @errors   no_session 404
-- @cost     O(n) in the messages told, at most 100
-- @weight   1500
-- @rate     60/60 s user
-- @rate     5/1 s user
-- @readonly
--
-- Messages of whom the caller blocks, and of who blocks the caller, are left out. The newest messages of together at
-- most PAGE_BYTES_MAX are told.

local PAGE_BYTES_MAX = 32768

own_session()
local found, writers, seen = {}, {}, {}
for _, text in ipairs(read('LRANGE', key.chat, 0, CHAT_MAX - 1)) do
  local message = decode(text)
  local writer = type(message) == 'table' and type(message.user) == 'table' and message.user.id
  if type(writer) == 'string' and type(message.id) == 'string' then
    found[#found + 1] = {text = text, writer = writer}
    if not seen[writer] and is_id(writer) then writers[#writers + 1] = writer end
    seen[writer] = true
  end
end
local hidden = hidden_from(args.userId, writers)
local newest, bytes = {}, 0
for _, one in ipairs(found) do
  if not hidden[one.writer] then
    bytes = bytes + #one.text
    if #newest == args.limit or bytes > PAGE_BYTES_MAX then break end
    newest[#newest + 1] = one.text
  end
end
local messages = {}
for index = #newest, 1, -1 do messages[#messages + 1] = raw(newest[index]) end
return {session_id = args.sessionId, messages = array(messages)}
