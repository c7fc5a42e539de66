-- @command  request_skip
-- @summary  Ask to skip the song that plays; once more than half of those who take part ask, it is skipped.
-- @http     POST /api/v1/sessions/request_skip
-- @allow    user|service
-- @arg      userId user -- who asks
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @include  songs
-- @include  playing
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      guests  session:{sessionId}#guests
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      skips   session:{sessionId}#skips
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      adders  session:{sessionId}#adders
-- @key      history session:{sessionId}#history
-- @topic    session:{sessionId}
-- @emits    session.updated standing
-- @emits    now_playing.updated {session_id: string, current_song?: song}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @returns  {ok: bool, skip_request_count: int, participant_count: int, skipped: bool}
-- @errors   no_session 404
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   2500
-- @rate     60/60 s user
-- @rate     5/1 s user
--
-- A user who asks twice counts once. With nothing playing there is nothing to ask for.

local session, note = own_session()
local people, skips = read('HLEN', key.people), read('SCARD', key.skips)
if not session.current then
  return {ok = true, skip_request_count = 0, participant_count = people, skipped = false}
end
see_guest(session, note)
local is_new = read('SISMEMBER', key.skips, args.userId) == 0
if is_new then skips = skips + 1 end
if skips * 2 > people then
  advance(session, 'skipped', people, true)
  return {ok = true, skip_request_count = 0, participant_count = people, skipped = true}
end
if is_new then
  write('SADD', key.skips, args.userId)
  ends_with(session, key.skips)
  tell_standing(session, people, skips)
end
return {ok = true, skip_request_count = skips, participant_count = people, skipped = false}
