-- @command  say
-- @summary  Say something to all who take part in the user's listening session.
-- @http     POST /api/v1/sessions/chat 201
-- @allow    user|service
-- @arg      text   string 1..500
-- @arg      userId user -- who says it
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      chat    session:{sessionId}#chat
-- @topic    session:{sessionId}
-- @emits    chat.message {session_id: string, message: chat_message}
-- @emits    chat.changed {session_id: string} -- in its place, while somebody takes part who must not be shown the user
-- @type     chat_message {id: string, text: string, user: person, sent_at: string}
-- @returns  chat_message
-- @errors   no_session 404
-- @cost     O(1)
-- @weight   400
-- @rate     30/60 s user
-- @rate     3/1 s user
-- @random
--
-- The session keeps the last CHAT_MAX messages in the list `chat`, newest first. Clients that are told `chat.changed`
-- ask for them (listening_chat.lua), and each is answered what it may be shown.

local session, note = own_session()
local _, kind, name = noted(note)
local message = {
  id = random, text = args.text, user = person(args.userId, kind, name or ''), sent_at = iso(now_ms),
}
write('LPUSH', key.chat, encode(message))
write('LTRIM', key.chat, 0, CHAT_MAX - 1)
ends_with(session, key.chat)
if next(apart_here({args.userId}, are_here)) then
  emit('session:' .. args.sessionId, 'chat.changed', {session_id = args.sessionId})
else
  emit('session:' .. args.sessionId, 'chat.message', {session_id = args.sessionId, message = message})
end
return message
