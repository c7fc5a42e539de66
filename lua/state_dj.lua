-- @summary  The state a client of a shop's DJ mode receives when it joins: the session with its queue in order.
-- @state    dj
-- @key      session dj:{id}#session
-- @key      tracks  dj:{id}#tracks
-- @key      tally   dj:{id}#tally
-- @key      order   dj:{id}#order
-- @returns  JSON text {shopId, isActive, currentTrack, queue, startedAt, next}, or false
-- @cost     O(n) in the tracks told, at most 100
-- @weight   1000
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   session  hash isActive, startedAt ms, current JSON
-- KEYS[4]   tracks   hash trackId -> JSON of the track
-- KEYS[5]   tally    hash trackId -> `TAG SEQUENCE UP DOWN`
-- KEYS[6]   order    zset trackId, first track last
--
-- The stored texts are spliced as they are. A text that is not what add_track.lua writes is left out, its place in
-- the order is not given to another, and nothing raises an error. The queue ends at PAGE_MAX tracks and before
-- PAGE_BYTES_MAX; when there are more, `next` is what the command `dj` takes as `from`, which answers the same.

local QUEUE_MAX = 500
local PAGE_MAX = 100
local PAGE_BYTES_MAX = 49152
local CHUNK = 25
local ITEM_BYTES_MAX = 2048
local VOTES_MAX = 1000000000
local YEAR_9999_MS = 253370764800000

-- The reply of a read, an empty list for an error.
local function got(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and not failed(reply) and reply or {}
end

-- ISO 8601 in UTC; the days are counted by the civil calendar from 1 March of year 0.
local function utc(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local day = (days + 719468) % 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  local of_year = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * of_year + 2) / 153)
  local of_month = of_year - math.floor((153 * month + 2) / 5) + 1
  year = year + math.floor((days + 719468) / 146097) * 400 + (month >= 10 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month < 10 and month + 3 or month - 9, of_month,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end

-- The members of a track's text without its closing brace; nil when it is not the JSON of a track.
local function members(text)
  if type(text) ~= 'string' or #text > ITEM_BYTES_MAX then return nil end
  if string.byte(text) ~= 123 or string.byte(text, -1) ~= 125 then return nil end
  local parsed, track = pcall(cjson.decode, text)
  return parsed and type(track.trackId) == 'string' and string.sub(text, 1, -2), track
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

-- The first of the queue's items, each with its votes and its place; and how many tracks were looked at.
local function page(last)
  local items, bytes, place = {}, 0, 0
  while place < last do
    local tracks = got('ZREVRANGE', KEYS[6], place, math.min(place + CHUNK, last) - 1)
    if #tracks == 0 then break end
    local texts, tallies = got('HMGET', KEYS[4], unpack(tracks)), got('HMGET', KEYS[5], unpack(tracks))
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

function state()
  local shop = string.match(KEYS[3], 'dj:{?([A-Za-z0-9._~:-]+)}?#session$')
  if not shop then return false end
  local session = got('HMGET', KEYS[3], 'isActive', 'startedAt', 'current')
  local started = integer(session[2], 0, YEAR_9999_MS)
  local current = members(session[3])
  local count = redis.pcall('ZCARD', KEYS[6])
  local queued = type(count) == 'number' and math.min(count, QUEUE_MAX) or 0
  local items, place = page(math.min(queued, PAGE_MAX))
  return '{"shopId":"' .. shop .. '","isActive":' .. tostring(session[1] == '1')
    .. ',"currentTrack":' .. (current and current .. '}' or 'null') .. ',"queue":[' .. table.concat(items, ',') .. ']'
    .. ',"startedAt":' .. (started and '"' .. utc(started) .. '"' or 'null')
    .. ',"next":' .. (place < queued and place or 'null') .. '}'
end
