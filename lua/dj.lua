-- @command  dj
-- @summary  A shop's DJ session with its queue in order: what a client of `dj` topics receives when it joins.
-- @http     GET /v1/shops/{shopId}/dj
-- @allow    anonymous|user|service
-- @arg      shopId id
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @returns  {shopId, isActive, currentTrack, queue, startedAt}
-- @cost     O(n) in queued tracks, at most 500
-- @weight   2000
-- @readonly
--
-- The same as state_dj.lua, which cannot be shared: a state provider runs without the command prelude. What is not
-- what add_track.lua writes is left out, and its place in the order is not given to another.

local QUEUE_MAX = 500
local ITEM_BYTES_MAX = 2048
local VOTES_MAX = 1000000000
local YEAR_9999_MS = 253370764800000

-- The members of a track's text without its closing brace; nil when it is not the JSON of a track.
local function members(text)
  if type(text) ~= 'string' or #text > ITEM_BYTES_MAX then return nil end
  if string.sub(text, 1, 1) ~= '{' or string.sub(text, -1) ~= '}' then return nil end
  local track = decode(text)
  return track and type(track.trackId) == 'string' and string.sub(text, 1, -2), track
end

-- One item of the queue; nil when what is stored is not what add_track.lua and vote.lua write.
local function item(id, text, tally, position)
  local up, down = string.match(tally or '', ' (%d+) (%d+)$')
  up, down = tonumber(up) or VOTES_MAX, tonumber(down) or VOTES_MAX
  local open, track = members(text)
  if not open or track.trackId ~= id or up >= VOTES_MAX or down >= VOTES_MAX then return nil end
  if track.upvotes or track.downvotes or track.score or track.position then return nil end
  return string.format('%s,"upvotes":%d,"downvotes":%d,"score":%d,"position":%d}', open, up, down, up - down, position)
end

local session = read('HMGET', key.session, 'isActive', 'startedAt', 'current')
local tracks = read('ZREVRANGE', key.order, 0, QUEUE_MAX - 1)
local texts = #tracks > 0 and read('HMGET', key.tracks, unpack(tracks)) or {}
local tallies = #tracks > 0 and read('HMGET', key.tally, unpack(tracks)) or {}
local items = {}
for position, id in ipairs(tracks) do
  items[#items + 1] = item(id, texts[position], tallies[position], position)
end
local started = integer(session[2], 0, YEAR_9999_MS)
local current = members(session[3])
return {
  shopId = args.shopId, isActive = session[1] == '1', currentTrack = current and raw(current .. '}') or null,
  queue = raw('[' .. table.concat(items, ',') .. ']'), startedAt = started and iso(started) or null,
}
