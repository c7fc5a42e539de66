-- @command  queue
-- @summary  A shop's queue status: as cached, or computed when no cache is there.
-- @http     GET /v1/shops/{shopId}/queue
-- @allow    anonymous|user|service
-- @arg      shopId   id
-- @key      cache    queue:{shopId}
-- @key      bookings shop:{shopId}#bookings
-- @key      barbers  shop:{shopId}#barbers
-- @key      service  shop:{shopId}#service
-- @key      settings shop:{shopId}#settings
-- @returns  {shopId, queueLength, avgWaitTime, currentlyServing, estimatedWaitTimes, updatedAt, estimate}
-- @errors   too_large
-- @cost     O(1) with a cache, otherwise O(n) in open bookings, at most 2000
-- @readonly
--
-- estimatedWaitTimes is {standard, blackCard}. The same formula as in queue_refresh.lua, which keeps the cache while
-- the shop is open; an estimate is in the cache only.

local FIELDS_MAX = 2000
local BOOKING_BYTES_MAX = 4096
local CACHE_BYTES_MAX = 65536
local MINUTE_MS = 60000
local DAY_MS = 86400000
local YEAR_9999_MS = 253370764800000
local SERVICE_MINUTES = 30
local SERVICE_MINUTES_MIN = 1
local SERVICE_MINUTES_MAX = 480
local COUNT_MAX = 1000000000

local TIERS = {standard = true, blackCard = true}
local STATUSES = {pending = true, confirmed = true, ['in-progress'] = true}
local NUMBERS = {
  serviceMinutes = SERVICE_MINUTES_MAX, scheduledAt = YEAR_9999_MS, createdAt = YEAR_9999_MS, startedAt = YEAR_9999_MS,
  estimatedCompletion = YEAR_9999_MS,
}

-- The booking that a text holds, nil when it holds none; null members are absent ones.
local function booking(text)
  local it = type(text) == 'string' and #text <= BOOKING_BYTES_MAX and decode(text)
  if type(it) ~= 'table' or not is_id(it.userId) or not TIERS[it.tier] or not STATUSES[it.status] then return nil end
  for name, most in pairs(NUMBERS) do
    local value, least = it[name], name == 'serviceMinutes' and 1 or 0
    if value == null then
      it[name] = nil
    elseif value ~= nil and not (type(value) == 'number' and value >= least and value <= most) then
      return nil
    end
  end
  if it.barberId == null then it.barberId = nil end
  if not it.createdAt or it.barberId ~= nil and type(it.barberId) ~= 'string' then return nil end
  return it
end

-- The cached status, nil when the text is none that can be answered.
local function cached(text)
  local status = type(text) == 'string' and #text <= CACHE_BYTES_MAX and decode(text)
  if type(status) ~= 'table' or status.shopId ~= args.shopId or type(status.estimatedWaitTimes) ~= 'table' then
    return nil
  end
  return pcall(encode, status) and status or nil
end

-- The average minutes of a service: as set, as learned, or the default.
local function average_service()
  local fixed = number(read('HGET', key.service, 'averageMinutes'))
  if fixed and fixed >= SERVICE_MINUTES_MIN and fixed <= SERVICE_MINUTES_MAX then return fixed end
  local all, total = 0, 0
  for tier in pairs(TIERS) do
    local stored = read('HMGET', key.service, 'count:' .. tier, 'sum:' .. tier, 'squares:' .. tier)
    local count, sum, squares = integer(stored[1], 1, COUNT_MAX), number(stored[2]), number(stored[3])
    local mean = count and sum and squares and squares >= 0 and sum / count
    if mean and mean >= SERVICE_MINUTES_MIN and mean <= SERVICE_MINUTES_MAX then
      all, total = all + count, total + sum
    end
  end
  return all > 0 and total / all or SERVICE_MINUTES
end

-- The confirmed bookings of the shop's today; one without a time is of today.
local function waiting()
  local minutes = number(read('HGET', key.settings, 'utcOffsetMinutes'))
  if not minutes or minutes ~= math.floor(minutes) or minutes < -720 or minutes > 840 then minutes = 0 end
  local function day(ms) return math.floor((ms + minutes * MINUTE_MS) / DAY_MS) end
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

if read('HLEN', key.bookings) > FIELDS_MAX then
  fail('too_large', 'The shop has more than ' .. FIELDS_MAX .. ' open bookings: its queue is not computed')
end
local count, active = waiting(), read('SCARD', key.barbers)
local wait = active > 0 and math.ceil(count / active * average_service()) or 0
return {
  shopId = args.shopId, queueLength = count, avgWaitTime = wait, currentlyServing = active,
  estimatedWaitTimes = {standard = wait, blackCard = math.max(wait * 0.4, 5)}, updatedAt = iso(now_ms),
}
