-- @part     described
-- @summary  What somebody says that a track is: kept for the shop, and changed where the track is queued.
--
-- For scripts that have the keys catalogue, described and tracks. Data:
--   catalogue  hash trackId -> JSON of what is kept: at most five artists, the first image
--   described  zset trackId -> when, ms: beyond CATALOGUE_MAX the track that was described first is forgotten
-- Who adds the track gets this, whatever the adder says of it. A track that is queued already is changed where it
-- stands, and told.

local CATALOGUE_MAX = 1000
local CATALOGUE_TTL_S = 2592000 -- 30 days
local KEPT_BYTES_MAX = 1024     -- leaves room for who added the track, within TRACK_BYTES_MAX

-- Keeps a description, the text of a JSON object, and returns what the apps read of it. `is_untold`: nobody was told of
-- the track yet.
local function describe(track, description, is_untold)
  local about = kept(decode(description))
  if not about then fail('bad_request', 'track must be an object with a name of at most 600 bytes') end
  local text = encode(about)
  if #text > KEPT_BYTES_MAX then
    fail('too_large', 'What is kept of the track takes more than ' .. KEPT_BYTES_MAX .. ' bytes as JSON')
  end

  -- A track that is queued.
  local queued = read('HGET', key.tracks, track)
  local item = queued and decode(queued)
  local is_queued = type(item) == 'table' and item.trackId == track
  if is_queued then
    item = {trackId = track, addedBy = text_of(item.addedBy, 128), addedAt = text_of(item.addedAt, 64)}
    for name, value in pairs(about) do item[name] = value end
    queued = encode(item)
    if #queued > TRACK_BYTES_MAX then
      fail('too_large', 'The track takes more than ' .. TRACK_BYTES_MAX .. ' bytes as JSON')
    end
  end

  if not read('HGET', key.catalogue, track) and read('ZCARD', key.described) >= CATALOGUE_MAX then
    local oldest = read('ZRANGE', key.described, 0, 0)[1]
    if oldest then
      write('HDEL', key.catalogue, oldest)
      write('ZREM', key.described, oldest)
    end
  end
  write('HSET', key.catalogue, track, text)
  write('EXPIRE', key.catalogue, CATALOGUE_TTL_S)
  write('ZADD', key.described, decimal(now_ms), track)
  write('EXPIRE', key.described, CATALOGUE_TTL_S)
  about.trackId = track
  as_spotify(about)
  if is_queued then
    write('HSET', key.tracks, track, queued)
    if not is_untold then emit('dj:' .. args.shopId, 'track:described', about) end
  end
  return about
end
