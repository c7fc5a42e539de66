-- @command  end_visit
-- @summary  Leave a listening session that was entered by a QR code; a guest's token opens nothing from then on.
-- @http     DELETE /api/v1/sessions/{id}/visit
-- @allow    user|service
-- @arg      sessionId id fold lower as id
-- @arg      userId    user -- who leaves
-- @span     sessionId reads userId -- the user's session and the session's users must agree
-- @include  going
-- @key      people    session:{sessionId}#people
-- @key      listening user:{userId}#listening
-- @calls    depart
-- @steps    drop_listening
-- @returns  {ok: bool}
-- @cost     O(1)
-- @weight   150
-- @rate     20/60 s user
-- @rate     5/1 s user
--
-- What leave_listening.lua does at the user's home, a guest's token does here: it is for the session. Who is in another
-- session, or in none, leaves nothing.

local former = read('HMGET', key.listening, 'session', 'tag', 'code')
if former[1] == args.sessionId and former[2] and former[3] and read('HEXISTS', key.people, args.userId) == 1 then
  if homes_apart then
    step('drop_listening', {userId = args.userId, sessionId = former[1], tag = former[2]})
  else
    let_go(former)
  end
end
return {ok = true}
