-- @command  withdraw_listener
-- @summary  Take back the votes of a guest of a listening session who is no more there, and the request to skip.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @include  session
-- @include  apart
-- @include  songs
-- @include  withdrawing
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      skips   session:{sessionId}#skips
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      ballots session:{sessionId}#ballots#{userId}
-- @key      guests  session:{sessionId}#guests
-- @topic    session:{sessionId}
-- @emits    votes.updated {session_id: string, queued_song_id: string, total_votes: int}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @emits    session.updated standing
-- @returns  {withdrawn: bool}
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   2500
-- @idempotent
--
-- Called by guests_refresh.lua. A guest with a sign since keeps the votes. The guest still takes part, and may vote
-- again: a phone that slept comes back by its token.

local session = open_session()
local until_ms = number(read('ZSCORE', key.guests, args.userId))
if not session or until_ms and until_ms > now_ms then return {withdrawn = false} end
local list = queue()
local has_changed, has_played = withdraw_ballots(session, list)
tell_withdrawn(session, list, has_changed, has_played)
local has_asked = read('SISMEMBER', key.skips, args.userId) == 1
if has_asked then
  write('SREM', key.skips, args.userId)
  tell_standing(session, read('HLEN', key.people), math.max(read('SCARD', key.skips) - 1, 0))
end
return {withdrawn = has_changed or has_played or has_asked}
