-- @part     withdrawing
-- @summary  Take back all votes of a guest of a listening session who has left or is no more there.
--
-- It goes behind part_songs.lua. A guest costs nothing to make, so a vote must not outlive the stay of who gave it. A
-- user with an account keeps the votes: it is one user who may come back, and no second.

-- Takes the ballots back. `list` is the queue as it was read, and has votes and order as they are then. Returns whether
-- the queue has changed, and whether the votes of the song that plays have.
local function withdraw_ballots(session, list)
  local ids, places = {}, {}
  for index, item in ipairs(list) do ids[index] = item.id end
  ids[#ids + 1] = session.current
  local ballots, has_played = #ids > 0 and read('HMGET', key.ballots, unpack(ids)) or {}, false
  for index, id in ipairs(ids) do
    local value = ballots[index] == '1' and 1 or ballots[index] == '-1' and -1
    local item = list[index]
    if value and item then
      item.votes, item.place = item.votes - value + 0, item.place - value * SONGS_MAX
      places[#places + 1], places[#places + 2] = item.place, id
    elseif value then
      session.votes = session.votes - value + 0
      has_played = true
      write('HSET', key.session, 'votes', session.votes)
    end
  end
  write('UNLINK', key.ballots)
  if #places > 0 then
    write('ZADD', key.order, unpack(places))
    table.sort(list, function(one, other) return one.place > other.place end)
  end
  return #places > 0, has_played
end

-- Tells what was taken back, unless the song was skipped by it.
local function tell_withdrawn(session, list, has_changed, has_played)
  if has_played and session.current then
    emit('session:' .. args.sessionId, 'votes.updated', {
      session_id = args.sessionId, queued_song_id = session.current, total_votes = session.votes,
    })
  end
  if has_changed then tell_queue(list, apart_here(adders_of(list), are_here)) end
end
