-- @command  song_finished
-- @summary  Say that the song that plays is over, so that the next one plays; the host's player does.
-- @http     POST /api/v1/sessions/song_finished
-- @allow    user|service
-- @arg      songId id optional fold lower as queued_song_id -- which song is over; another than plays changes nothing
-- @arg      userId user -- the host
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @include  songs
-- @include  playing
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      skips   session:{sessionId}#skips
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      adders  session:{sessionId}#adders
-- @key      history session:{sessionId}#history
-- @topic    session:{sessionId}
-- @emits    now_playing.updated {session_id: string, current_song?: song}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @emits    session.updated standing
-- @returns  {ok: bool}
-- @errors   no_session 404, forbidden
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   3000
-- @rate     60/60 s user
-- @rate     5/1 s user
--
-- A player that sends this again because no answer came says which song it means, or gives the call a name
-- (`Idempotency-Key`); otherwise the next song ends as well.

local session = own_session()
if session.host ~= args.userId then fail('forbidden', 'You are not the host of this session') end
if session.current and (not args.songId or args.songId == session.current) then
  advance(session, 'played', read('HLEN', key.people), nil)
end
return {ok = true}
