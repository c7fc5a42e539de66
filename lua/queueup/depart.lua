-- @command  depart
-- @summary  End one stay of a user in a listening session, and skip its song when more than half of the others ask so.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @arg      tag       id -- of the stay that ends
-- @arg      code      id -- the session's join code
-- @span     sessionId -- the code ends with its session
-- @include  session
-- @include  lifetime
-- @include  apart
-- @include  songs
-- @include  playing
-- @include  withdrawing
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      skips   session:{sessionId}#skips
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      adders  session:{sessionId}#adders
-- @key      history session:{sessionId}#history
-- @key      ballots session:{sessionId}#ballots#{userId}
-- @key      guests  session:{sessionId}#guests
-- @key      chat    session:{sessionId}#chat
-- @key      seen    session:{sessionId}#host
-- @key      code    joincode:{code}
-- @topic    session:{sessionId}
-- @members
-- @steps    keep_code
-- @emits    session.updated standing
-- @emits    now_playing.updated {session_id: string, current_song?: song}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @emits    votes.updated {session_id: string, queued_song_id: string,
--            total_votes: int} -- when a guest's votes are taken back
-- @returns  {left: bool} -- whether that stay went on until now
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   3000
--
-- A user who has come back since has another tag and stays. Once nobody takes part the session has an hour left, so
-- that its code is soon free again; joining it within the hour takes that back.
--
-- A host who leaves may come back; after some minutes another user is the host (host_refresh.lua). The votes of a guest
-- are taken back (part_withdrawing.lua). Whom the user blocks stays noted until the session ends, so that what the user
-- has said stays hidden; beyond APART_KEPT fields it is forgotten with the leaving.

local APART_KEPT = 2000

local note = read('HGET', key.people, args.userId)
if not note or noted(note) ~= args.tag then return {left = false} end
local people = math.max(read('HLEN', key.people) - 1, 0)
local skips = read('SCARD', key.skips) - read('SISMEMBER', key.skips, args.userId)
write('HDEL', key.people, args.userId)
expel('session:' .. args.sessionId, args.userId)
write('SREM', key.skips, args.userId)
if read('HLEN', key.apart) > APART_KEPT then keep_blocks(args.userId, {}) end
local session = open_session()
if session and session.host == args.userId then
  write('SET', key.seen, decimal(now_ms), 'PXAT', session.ends)
end
local list, has_changed, has_played
if session and select(2, noted(note)) == 'guest' then
  list = queue()
  has_changed, has_played = withdraw_ballots(session, list)
  write('ZREM', key.guests, args.userId)
end
if session and session.current and skips * 2 > people then
  advance(session, 'skipped', people, true, list)
elseif session then
  if list then tell_withdrawn(session, list, has_changed, has_played) end
  tell_standing(session, people, skips)
end
if session and people == 0 and (homes_apart or read('GET', key.code) == args.sessionId) then
  end_at(session, math.min(session.ends, now_ms + EMPTY_MS))
end
return {left = true}
