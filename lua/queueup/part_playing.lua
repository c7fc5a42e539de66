-- @part     playing
-- @summary  How one song of a listening session ends and the next one plays.
--
-- It goes behind part_songs.lua, which hides who added songs.
-- Requests to skip are for the song that plays, so they end with it.

-- Notes that a song waits no more.
local function leave_queue(session, item)
  local adder = type(item.song.added_by) == 'table' and item.song.added_by.id
  local waiting = adder and integer(read('HGET', key.adders, adder), 0, QUEUE_MAX)
  if waiting and waiting > 1 then
    write('HSET', key.adders, adder, decimal(waiting - 1))
  elseif waiting then
    write('HDEL', key.adders, adder)
  end
  session.bytes = math.max(session.bytes - #item.open - 1, 0)
  write('ZREM', key.order, item.id)
end

-- Ends the song that plays as `status`, played or skipped, and lets the first of the queue play; tells all of it.
-- `people` take part, and `crowd` says whether they skipped the song; nil leaves that as it was. `list` is the queue,
-- read here unless it was before.
local function advance(session, status, people, crowd, list)
  list = list or queue()
  local open = session.current and opened(read('HGET', key.songs, session.current), session.current)
  if open then
    session.finished = session.finished + 1
    write('HSET', key.history, decimal(session.finished), told(open, status, session.votes))
    if session.finished > HISTORY_MAX then
      write('HDEL', key.history, decimal(session.finished - HISTORY_MAX))
    end
    ends_with(session, key.history)
  end
  if session.current then write('HDEL', key.songs, session.current) end
  write('UNLINK', key.skips)
  local hidden = apart_here(adders_of(list), are_here)
  local following = table.remove(list, 1)
  if crowd ~= nil then session.crowd = crowd end
  if following then
    leave_queue(session, following)
    session.current, session.votes = following.id, following.votes
    write('HSET', key.session, 'current', following.id, 'votes', following.votes)
    tell_playing(told(shown(following, hidden), 'playing', following.votes))
  else
    session.current, session.votes = nil, 0
    write('HDEL', key.session, 'current', 'votes')
    tell_playing(nil)
  end
  write('HSET', key.session, 'finished', decimal(session.finished), 'bytes', decimal(session.bytes),
    'crowd', session.crowd and '1' or '0')
  tell_queue(list, hidden)
  tell_standing(session, people, 0)
end
