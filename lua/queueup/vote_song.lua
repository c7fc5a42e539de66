-- @command  vote_song
-- @summary  Vote for or against a song of the listening session that a user takes part in; one user, one vote.
-- @http     POST /api/v1/songs/{queued_song_id}/vote
-- @allow    user|service
-- @arg      songId id fold lower as queued_song_id
-- @arg      value  int -1..1 as vote_value -- 1 or -1
-- @arg      userId user -- who votes
-- @resolve  sessionId = user:{userId}#listening session else not_found 404 -- Song not found in your session
-- @include  session
-- @include  ballot
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      guests  session:{sessionId}#guests
-- @key      order   session:{sessionId}#order
-- @key      ballots session:{sessionId}#ballots#{userId}
-- @topic    session:{sessionId}
-- @emits    votes.updated {session_id: string, queued_song_id: string, total_votes: int}
-- @returns  {ok: bool, total_votes: int}
-- @errors   not_found
-- @cost     O(log n) in the songs of the queue
-- @weight   800
-- @rate     60/60 s user
-- @rate     5/1 s user
--
-- The same vote again changes nothing and tells nobody.

if args.value == 0 then fail('bad_request', 'A vote is up or down') end
return cast(args.value)
