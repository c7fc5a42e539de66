-- @summary  The state a client of a shop's DJ mode receives when it joins: the session with its queue in order.
-- @state    dj
-- @include  dj_page
-- @include  utc
-- @key      session dj:{id}#session
-- @key      tracks  dj:{id}#tracks
-- @key      tally   dj:{id}#tally
-- @key      order   dj:{id}#order
-- @key      voters  dj:{id}#voters
-- @returns  dj_state
-- @cost     O(n) in the tracks told, at most 100
-- @weight   1800
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   session  hash isActive, startedAt ms, current JSON
-- KEYS[4]   tracks   hash trackId -> JSON of the track
-- KEYS[5]   tally    hash trackId -> `TAG SEQUENCE UP DOWN`
-- KEYS[6]   order    zset trackId, first track last
-- KEYS[7]   voters   hash trackId -> `UP|DOWN`, in sessions that name their voters
--
-- The stored texts are spliced as they are, and nothing raises an error. When there are more tracks than the first page
-- has, `next` is what the command `dj` takes as `from`, which answers the same.

-- The reply of a read, an empty list for an error.
local function got(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and not failed(reply) and reply or {}
end

-- The value of a JSON text; nil for what is none.
local function parsed(text)
  local ok, value = pcall(cjson.decode, text)
  return ok and value or nil
end

function state()
  local shop = string.match(KEYS[3], 'dj:{?([A-Za-z0-9._~:-]+)}?#session$')
  if not shop then return false end
  local session = got('HMGET', KEYS[3], 'isActive', 'startedAt', 'current')
  local started = integer(session[2], 0, YEAR_9999_MS)
  local current = members(session[3], parsed, CURRENT_BYTES_MAX)
  local count = redis.pcall('ZCARD', KEYS[6])
  local queued = type(count) == 'number' and math.min(count, QUEUE_MAX) or 0
  local keys = {tracks = KEYS[4], tally = KEYS[5], order = KEYS[6], voters = KEYS[7]}
  local items, place = page(keys, 0, queued, got, parsed)
  return '{"shopId":"' .. shop .. '","isActive":' .. tostring(session[1] == '1')
    .. ',"currentTrack":' .. (current and current .. '}' or 'null') .. ',"queue":[' .. table.concat(items, ',') .. ']'
    .. ',"startedAt":' .. (started and '"' .. utc(started) .. '"' or 'null')
    .. ',"next":' .. (place < queued and place or 'null') .. '}'
end
