-- @part     ballot
-- @summary  How one user's vote on a song of a listening session is cast, changed and withdrawn.
--
-- It goes behind part_session.lua. A guest's votes count while the guest is there (withdraw_listener.lua). A user has
-- one ballot for each song, and a song's votes are the sum of its ballots.

local BALLOTS_MAX = 160 -- of one user; beyond, those of songs that are over are dropped

-- The user's ballots that are of songs that are over.
local function void_ballots(session)
  local songs = read('HKEYS', key.ballots)
  local void = {}
  for index, place in ipairs(read('ZMSCORE', key.order, unpack(songs))) do
    if not place and songs[index] ~= session.current then void[#void + 1] = songs[index] end
  end
  return void
end

-- Makes the user's vote on the song `value`, 1, -1 or 0 for none; answers with the song's votes.
local function cast(value)
  local session, note = own_session('not_found', 'Song not found in your session')
  local plays = session.current == args.songId
  local place = not plays and number(read('ZSCORE', key.order, args.songId) or '')
  if not plays and not place then fail('not_found', 'Song not found in your session') end
  local ballot = read('HGET', key.ballots, args.songId)
  local before = ballot == '1' and 1 or ballot == '-1' and -1 or 0
  local total = (plays and session.votes or math.ceil(place / SONGS_MAX)) + value - before
  if value ~= 0 then see_guest(session, note) end
  if value == before then return {ok = true, total_votes = total} end

  if plays then
    write('HSET', key.session, 'votes', total)
  else
    write('ZADD', key.order, place + (value - before) * SONGS_MAX, args.songId)
  end
  if value == 0 then
    write('HDEL', key.ballots, args.songId)
  else
    if before == 0 and read('HLEN', key.ballots) >= BALLOTS_MAX then
      local void = void_ballots(session)
      if #void > 0 then write('HDEL', key.ballots, unpack(void)) end
    end
    write('HSET', key.ballots, args.songId, value)
    ends_with(session, key.ballots)
  end
  emit('session:' .. args.sessionId, 'votes.updated', {
    session_id = args.sessionId, queued_song_id = args.songId, total_votes = total,
  })
  return {ok = true, total_votes = total}
end
