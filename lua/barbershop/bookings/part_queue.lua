-- @part     queue
-- @summary  The queue's formula, and what it is fed with: the shop's day, and the service times that were learned.
-- @type     queue_status {shopId: string, queueLength: int, avgWaitTime: int, currentlyServing: int,
--            estimatedWaitTimes: {standard: number, blackCard: number}, updatedAt: string, estimate?: {minutes: int,
--            p50: number, p90: number, blackCard: {p50: number, p90: number}}}
--
-- For scripts that include `booking` and have the keys bookings, service and settings. The formula is that of the
-- backends, evaluated in their order, so that its figures equal theirs to the last digit.

-- Ends the script when the shop has more bookings than are read at once.
local function check_size()
  if read('HLEN', key.bookings) > OPEN_FIELDS_MAX then
    fail('too_large', 'The shop has more than ' .. OPEN_FIELDS_MAX .. ' open bookings: its queue is not computed')
  end
end

-- Minutes from UTC to the shop's clock.
local function utc_offset(text)
  local minutes = number(text)
  return minutes and minutes == math.floor(minutes) and minutes >= -720 and minutes <= 840 and minutes or 0
end

-- What was learned: {count, sum, mean, square of the variation}, nil when it is not what move_booking.lua writes.
local function learned(count, sum, squares, least)
  count, sum, squares = integer(count, 1, COUNT_MAX), number(sum), number(squares)
  if not count or not sum or not squares or squares < 0 then return nil end
  local mean = sum / count
  if mean < least or mean > SERVICE_MINUTES_MAX then return nil end
  return {count = count, sum = sum, mean = mean, square = math.max(0, squares / count / (mean * mean) - 1)}
end

-- The average minutes of a service, what was learned by tier, whether the average was set by hand, and what was
-- learned of the ratio of true to stated minutes.
local function services()
  local stored = read('HMGET', key.service, 'averageMinutes', 'count:standard', 'sum:standard', 'squares:standard',
    'count:blackCard', 'sum:blackCard', 'squares:blackCard', 'count:stated', 'sum:stated', 'squares:stated')
  local fixed = number(stored[1])
  local function of(place, least)
    return learned(stored[place], stored[place + 1], stored[place + 2], least)
  end
  local tiers = {standard = of(2, SERVICE_MINUTES_MIN), blackCard = of(5, SERVICE_MINUTES_MIN)}
  local stated = of(8, RATIO_MIN)
  if fixed and fixed >= SERVICE_MINUTES_MIN and fixed <= SERVICE_MINUTES_MAX then return fixed, tiers, true, stated end
  local count, sum = 0, 0
  for _, tier in pairs(tiers) do count, sum = count + tier.count, sum + tier.sum end
  return count > 0 and sum / count or SERVICE_MINUTES, tiers, false, stated
end

-- The status told to clients and kept for API servers.
local function queue_status(waiting, active, average)
  local wait = active > 0 and math.ceil(waiting / active * average) or 0
  return {
    shopId = args.shopId, queueLength = waiting, avgWaitTime = wait, currentlyServing = active,
    estimatedWaitTimes = {standard = wait, blackCard = math.max(wait * 0.4, 5)}, updatedAt = iso(now_ms),
  }
end
