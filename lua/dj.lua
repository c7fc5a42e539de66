-- @command  dj
-- @summary  A shop's DJ session with a page of its queue in order; the first is the state of the `dj` topic.
-- @http     GET /v1/shops/{shopId}/dj
-- @allow    anonymous|user|service
-- @arg      shopId id
-- @arg      from   int 0..500 = 0 -- how many tracks of the queue to leave out
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @returns  {shopId, isActive, currentTrack, queue, startedAt, next} -- next is null behind the last page
-- @cost     O(n) in the tracks told, at most 100
-- @weight   1500
-- @readonly
--
-- The same as state_dj.lua, which cannot be shared: a state provider runs without the command prelude. A page ends at
-- PAGE_MAX tracks and before PAGE_BYTES_MAX; `next` is what to ask for as `from`. What is not what add_track.lua writes
-- is left out, and its place in the order is not given to another.

local QUEUE_MAX = 500
local PAGE_MAX = 100
local PAGE_BYTES_MAX = 49152
local CHUNK = 25
local ITEM_BYTES_MAX = 2048
local VOTES_MAX = 1000000000
local YEAR_9999_MS = 253370764800000

-- The members of a track's text without its closing brace; nil when it is not the JSON of a track.
local function members(text)
  if type(text) ~= 'string' or #text > ITEM_BYTES_MAX then return nil end
  if string.byte(text) ~= 123 or string.byte(text, -1) ~= 125 then return nil end
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
  return open .. ',"upvotes":' .. up .. ',"downvotes":' .. down .. ',"score":' .. up - down
    .. ',"position":' .. position .. '}'
end

-- The page's items, and how many tracks of the order were looked at.
local function page(from, last)
  local items, bytes, place = {}, 0, from
  while place < last do
    local tracks = read('ZREVRANGE', key.order, place, math.min(place + CHUNK, last) - 1)
    if #tracks == 0 then break end
    local texts, tallies = read('HMGET', key.tracks, unpack(tracks)), read('HMGET', key.tally, unpack(tracks))
    for index, id in ipairs(tracks) do
      local one = item(id, texts[index], tallies[index], place + 1)
      bytes = bytes + (one and #one or 0)
      if bytes > PAGE_BYTES_MAX and #items > 0 then return items, place end
      items[#items + 1] = one
      place = place + 1
    end
  end
  return items, place
end

local session = read('HMGET', key.session, 'isActive', 'startedAt', 'current')
local queued = math.min(read('ZCARD', key.order), QUEUE_MAX)
local items, place = page(args.from, math.min(args.from + PAGE_MAX, queued))
local started = integer(session[2], 0, YEAR_9999_MS)
local current = members(session[3])
return {
  shopId = args.shopId, isActive = session[1] == '1', currentTrack = current and raw(current .. '}') or null,
  queue = raw('[' .. table.concat(items, ',') .. ']'), startedAt = started and iso(started) or null,
  next = place < queued and place or null,
}
