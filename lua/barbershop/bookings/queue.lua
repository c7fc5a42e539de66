-- @command  queue
-- @summary  A shop's queue status: as cached, or computed when no cache is there.
-- @http     GET /v1/shops/{shopId}/queue
-- @allow    anonymous|user|service
-- @arg      shopId   id
-- @include  booking
-- @include  queue
-- @key      cache    queue:{shopId}
-- @key      bookings shop:{shopId}#bookings
-- @key      barbers  shop:{shopId}#barbers
-- @key      service  shop:{shopId}#service
-- @key      settings shop:{shopId}#settings
-- @key      told     shop:{shopId}#status
-- @returns  queue_status
-- @errors   too_large
-- @cost     O(1) with a cache, otherwise O(n) in open bookings, at most 150
-- @weight   1000
-- @readonly
--
-- estimatedWaitTimes is {standard, blackCard}. queue_refresh.lua, which keeps the cache while the shop is open, counts
-- by the same formula; an estimate is in the cache only. Without a cache, which means that the worker is away, a shop
-- with more than COUNTED_MAX open bookings is answered as it was last told.

local CACHE_BYTES_MAX = 65536
local COUNTED_MAX = 150

-- The cached status, nil when the text is none that can be answered.
local function cached(text)
  local status = type(text) == 'string' and #text <= CACHE_BYTES_MAX and decode(text)
  if type(status) ~= 'table' or status.shopId ~= args.shopId or type(status.estimatedWaitTimes) ~= 'table' then
    return nil
  end
  return pcall(encode, status) and status or nil
end

-- The confirmed bookings of the shop's today; one without a time is of today.
local function waiting()
  local offset_ms = utc_offset(read('HGET', key.settings, 'utcOffsetMinutes')) * MINUTE_MS
  local function day(ms) return math.floor((ms + offset_ms) / DAY_MS) end
  local count = 0
  for _, text in ipairs(read('HVALS', key.bookings)) do
    local it = booking(text)
    if it and it.status == 'confirmed' and (not it.scheduledAt or day(it.scheduledAt) == day(now_ms)) then
      count = count + 1
    end
  end
  return count
end

local status = cached(read('GET', key.cache))
if status then return status end

local open = read('HLEN', key.bookings)
if open <= COUNTED_MAX then return queue_status(waiting(), read('SCARD', key.barbers), (services())) end

local last = decode(read('GET', key.told))
local function figure(value)
  return type(value) == 'number' and value >= 0 and value <= PEOPLE_MAX and value or nil
end
if type(last) ~= 'table' or not (figure(last.queueLength) and figure(last.avgWaitTime) and figure(last.currentlyServing)
  and integer(type(last.at) == 'number' and decimal(last.at) or nil, 0, YEAR_9999_MS)) then
  fail('too_large', 'The shop has ' .. open .. ' open bookings, and no worker has computed its queue')
end
return {
  shopId = args.shopId, queueLength = last.queueLength, avgWaitTime = last.avgWaitTime,
  currentlyServing = last.currentlyServing, updatedAt = iso(last.at),
  estimatedWaitTimes = {standard = last.avgWaitTime, blackCard = math.max(last.avgWaitTime * 0.4, 5)},
}
