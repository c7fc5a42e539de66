-- @part     songs
-- @summary  The queue of a listening session as clients are told it, and how the next song comes to play.
--
-- It goes behind part_session.lua, which describes the data.

-- The members of a stored song's text without its closing brace, and the song; nil for what add_song.lua did not write.
local function opened(text, id)
  if type(text) ~= 'string' or #text > SONG_BYTES_MAX or string.byte(text, -1) ~= 125 then return nil end
  local song = decode(text)
  if type(song) ~= 'table' or song.id ~= id or song.status or song.votes then return nil end
  return string.sub(text, 1, -2), song
end

-- A song as clients are told it: its stored members with its status and votes.
local function told(open, status, votes)
  return open .. string.format(',"status":"%s","votes":%d}', status, votes)
end

-- What waits, in its order: {id, place, votes, open, song}. What is not as add_song.lua writes it is left out.
local function queue()
  local flat = read('ZREVRANGE', key.order, 0, QUEUE_MAX - 1, 'WITHSCORES')
  local ids, list = {}, {}
  for index = 1, #flat, 2 do ids[#ids + 1] = flat[index] end
  if #ids == 0 then return list end
  local texts = read('HMGET', key.songs, unpack(ids))
  for index, id in ipairs(ids) do
    local place = number(flat[2 * index])
    local open, song = opened(texts[index], id)
    if open and place then
      list[#list + 1] = {id = id, place = place, votes = math.ceil(place / SONGS_MAX) + 0, open = open, song = song}
    end
  end
  return list
end

-- The queue as a JSON array.
local function queue_text(list)
  local items = {}
  for index, item in ipairs(list) do items[index] = told(item.open, 'queued', item.votes) end
  return '[' .. table.concat(items, ',') .. ']'
end

-- The song that plays as JSON; nil when none does.
local function current_text(session)
  if not session.current then return nil end
  local open = opened(read('HGET', key.songs, session.current), session.current)
  return open and told(open, 'playing', session.votes)
end

local function tell_queue(list)
  emit('session:' .. args.sessionId, 'queue.updated',
    '{"session_id":"' .. args.sessionId .. '","queue":' .. queue_text(list) .. '}')
end

-- Tells what plays; nil tells that nothing does.
local function tell_playing(text)
  emit('session:' .. args.sessionId, 'now_playing.updated',
    '{"session_id":"' .. args.sessionId .. '"' .. (text and ',"current_song":' .. text or '') .. '}')
end
