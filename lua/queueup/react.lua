-- @command  react
-- @summary  Show a reaction to all who take part in the user's listening session.
-- @http     POST /api/v1/sessions/reactions
-- @allow    user|service
-- @arg      reaction string 1..16 -- an emoji, or a short word
-- @arg      userId   user -- who reacts
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @topic    session:{sessionId}
-- @emits    reaction.added {session_id, reaction, user, sent_at}
-- @returns  {ok}
-- @errors   no_session 404
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @rate     5/1 s user

local _, note = own_session()
local _, kind, name = noted(note)
emit('session:' .. args.sessionId, 'reaction.added', {
  session_id = args.sessionId, reaction = args.reaction, user = person(args.userId, kind, name or ''),
  sent_at = iso(now_ms),
})
return {ok = true}
