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
-- @returns  {shopId, queueLength, avgWaitTime, currentlyServing, estimatedWaitTimes, updatedAt, estimate}
-- @errors   too_large
-- @cost     O(1) with a cache, otherwise O(n) in open bookings, at most 2000
-- @weight   500
-- @readonly
--
-- estimatedWaitTimes is {standard, blackCard}. The same formula as in queue_refresh.lua, which keeps the cache while
-- the shop is open; an estimate is in the cache only.

local CACHE_BYTES_MAX = 65536

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

check_size()
return queue_status(waiting(), read('SCARD', key.barbers), (services()))
