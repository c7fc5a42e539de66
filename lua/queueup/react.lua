-- @command  react
-- @summary  Show a reaction to all who take part in the user's listening session.
-- @http     POST /api/v1/sessions/reactions
-- @allow    user|service
-- @arg      reaction string 1..16 -- an emoji, or a short word
-- @arg      userId   user -- who reacts
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @topic    session:{sessionId}
-- @emits    reaction.added {session_id: string, reaction: string, user: person,
--            sent_at: string} -- not while somebody must not be shown the user
-- @returns  {ok: bool}
-- @errors   no_session 404
-- @cost     O(1)
-- @weight   300
-- @rate     60/60 s user
-- @rate     5/1 s user

-- A reaction is for the moment and kept nowhere, so it cannot be asked for. While somebody takes part whom the user
-- blocks, or who blocks the user, nobody is told, and the user does not notice.

local _, note = own_session()
local _, kind, name = noted(note)
if next(apart_here({args.userId}, are_here)) then
  return {ok = true}
end
emit('session:' .. args.sessionId, 'reaction.added', {
  session_id = args.sessionId, reaction = args.reaction, user = person(args.userId, kind, name or ''),
  sent_at = iso(now_ms),
})
return {ok = true}
