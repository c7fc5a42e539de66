-- @summary  The state a client of a shop receives when it joins: the queue status, as cached or as last told.
-- @state    shop
-- @include  utc
-- @key      cache    queue:{id}
-- @key      told     shop:{id}#status
-- @key      bookings shop:{id}#bookings
-- @key      barbers  shop:{id}#barbers
-- @returns  queue_status
-- @cost     O(n) in the bytes of the status
-- @weight   400
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   cache    string JSON, written by the worker, read by the API servers
-- KEYS[4]   told     string JSON, what the worker told last (queue_refresh.lua)
-- KEYS[5]   bookings hash, the open bookings
-- KEYS[6]   barbers  set, who is at work
--
-- The cache belongs to others: a wrong type, a text that is not a JSON object, or one beyond the limit is no state,
-- never an error. (The gateway checks the text again before it splices it into a frame: cjson also takes NaN.) The
-- cache of a shop where nobody waits and nobody works expires, and a new shop has none. Such a shop has a state, too:
-- what was told last, or an empty queue when there is neither a booking nor a barber. Where bookings are and nothing
-- was ever told, no worker has computed the queue, and nothing is claimed.

local STATE_BYTES_MAX = 65536

-- A whole number of people or minutes; nil for anything else.
local function figure(value)
  return type(value) == 'number' and value >= 0 and value <= PEOPLE_MAX and value == math.floor(value) and value or nil
end

local function status(length, wait, serving, at_ms)
  local shop = string.match(KEYS[4], 'shop:{?([A-Za-z0-9._~:-]+)}?#status$')
  if not shop then return false end
  return string.format('{"shopId":"%s","queueLength":%d,"avgWaitTime":%d,"currentlyServing":%d,'
    .. '"estimatedWaitTimes":{"standard":%d,"blackCard":%.14g},"updatedAt":"%s"}', shop, length, wait, serving, wait,
    math.max(wait * 0.4, 5), utc(at_ms))
end

-- The status of a shop without a cached one.
local function last()
  local text = redis.pcall('GET', KEYS[4])
  if type(text) == 'string' and #text <= STATE_BYTES_MAX then
    local ok, told = pcall(cjson.decode, text)
    if not ok or type(told) ~= 'table' then return false end
    local length, wait, serving = figure(told.queueLength), figure(told.avgWaitTime), figure(told.currentlyServing)
    local at_ms = type(told.at) == 'number' and told.at >= 0 and told.at <= YEAR_9999_MS and math.floor(told.at)
    return length and wait and serving and at_ms and status(length, wait, serving, at_ms) or false
  end
  if text ~= false or redis.pcall('HLEN', KEYS[5]) ~= 0 or redis.pcall('SCARD', KEYS[6]) ~= 0 then return false end
  local now_ms = integer(ARGV[4], 0, YEAR_9999_MS)
  return now_ms and status(0, 0, 0, now_ms) or false
end

function state()
  local cached = redis.pcall('GET', KEYS[3])
  if cached == false then return last() end
  if type(cached) ~= 'string' or #cached > STATE_BYTES_MAX or not string.find(cached, '^%s*{') then return false end
  local parsed = pcall(cjson.decode, cached)
  return parsed and cached
end
