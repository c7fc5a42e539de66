-- @command  leave_listening
-- @summary  Leave the listening session that a user takes part in, if there is one; the host's leaving ends nothing.
-- @http     POST /api/v1/sessions/leave
-- @allow    user|service
-- @arg      userId user -- who leaves
-- @include  going
-- @key      listening user:{userId}#listening
-- @calls    depart
-- @returns  {ok: bool}
-- @cost     O(1)
-- @weight   150
-- @rate     20/60 s user
-- @rate     5/1 s user
--
-- The user's own side ends at once, and the session's by the outbox (depart.lua).

let_go(read('HMGET', key.listening, 'session', 'tag', 'code', 'at'))
return {ok = true}
