-- @part     songs
-- @summary  The queue of a listening session as clients are told it, and how the next song comes to play.
-- @type     track {id: string, isrc: string|null, name: string, artists: string|[string], album: string,
--            duration_ms: int, image_url: string|null, source: 'spotify'|'apple_music'}
-- @type     song {id: string, status: 'queued'|'playing'|'played'|'skipped', added_at: string, votes: int, song: track,
--            added_by: person}
--
-- It goes behind part_session.lua, which describes the data, and part_apart.lua. The adder of a song is told by
-- the id NOBODY to whom that user must not be shown; the song stays, since the queue is the same for all.

local NOBODY = '00000000-0000-0000-0000-000000000000'

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

-- The adder of a song; nil for a text that add_song.lua did not write.
local function adder_of(song)
  local user = type(song.added_by) == 'table' and song.added_by.id
  return type(user) == 'string' and user or nil
end

-- The adders of some items {song}, each user once; nobody where nobody blocks anybody.
local function adders_of(list)
  local users, seen = {}, {}
  if next(kept) == nil and read('EXISTS', key.apart) == 0 then return users end
  for _, item in ipairs(list) do
    local user = adder_of(item.song)
    if user and not seen[user] then
      seen[user] = true
      if is_id(user) then users[#users + 1] = user end
    end
  end
  return users
end

-- The members of a song's text without its closing brace, without who added it where that user is hidden.
local function shown(item, hidden)
  local song = item.song
  if next(hidden) == nil or not hidden[adder_of(song) or ''] then return item.open end
  -- To replace it in the text costs a tenth of writing the song anew, and goes wrong only where a name has braces.
  local name = song.added_by.username
  if type(name) ~= 'string' or not string.find(name, '[{}]') then
    local text, count = string.gsub(item.open, '"added_by":%b{}', '"added_by":{"id":"' .. NOBODY .. '"}', 1)
    if count == 1 then return text end
  end
  local track = song.song
  if type(track) == 'table' and type(track.artists) == 'table' then array(track.artists) end
  return string.sub(encode({id = song.id, added_at = song.added_at, song = track, added_by = {id = NOBODY}}), 1, -2)
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

-- The queue as a JSON array; `hidden` are those who are not named.
local function queue_text(list, hidden)
  local items = {}
  for index, item in ipairs(list) do items[index] = told(shown(item, hidden), 'queued', item.votes) end
  return '[' .. table.concat(items, ',') .. ']'
end

-- The song that plays, {open, song}; nil when none does.
local function current_item(session)
  if not session.current then return nil end
  local open, song = opened(read('HGET', key.songs, session.current), session.current)
  return open and {open = open, song = song}
end

local function tell_queue(list, hidden)
  emit('session:' .. args.sessionId, 'queue.updated',
    '{"session_id":"' .. args.sessionId .. '","queue":' .. queue_text(list, hidden) .. '}')
end

-- Tells what plays; nil tells that nothing does.
local function tell_playing(text)
  emit('session:' .. args.sessionId, 'now_playing.updated',
    '{"session_id":"' .. args.sessionId .. '"' .. (text and ',"current_song":' .. text or '') .. '}')
end
