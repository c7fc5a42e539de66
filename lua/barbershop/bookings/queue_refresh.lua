-- @summary  Compute a shop's queue status from its state, cache it, and tell it when it changed.
-- @refresh  shop:{shopId}#bookings
-- @refresh  shop:{shopId}#barbers
-- @refresh  shop:{shopId}#service
-- @refresh  shop:{shopId}#settings
-- @arg      shopId   id
-- @coalesce 20 ms
-- @include  booking
-- @include  queue
-- @key      bookings shop:{shopId}#bookings
-- @key      barbers  shop:{shopId}#barbers
-- @key      service  shop:{shopId}#service
-- @key      settings shop:{shopId}#settings
-- @key      told     shop:{shopId}#status
-- @key      cache    queue:{shopId}
-- @topic    shop:{shopId}
-- @calls    end_booking
-- @emits    queue:update queue_status
-- @returns  {idle: bool, again_ms?: int}
-- @errors   too_large
-- @cost     O(n) in open bookings, at most 2000; with the simulated estimator at most 100000 steps more
-- @weight   6000
--
-- estimatedWaitTimes is {standard, blackCard}. The formula is that of the backends: confirmed bookings of today over
-- active barbers, times the average service. With the setting estimator = simulated there is an estimate too:
-- {minutes, p50, p90, blackCard: {p50, p90}}, the wait of somebody who comes now, from simulated runs of the shop.
--
-- What was told is compared without updatedAt. An estimate alone changes with time: it is told again when its p50
-- moved by ESTIMATE_STEP minutes, at most once in ESTIMATE_MS. Other systems write these keys: what is not a booking
-- is not counted. queue.lua answers the same formula. A booking still pending at its `endsAt` is cancelled by
-- end_booking.lua.

local CACHE_S = 60
local CACHE_RENEW_MS = 30000 -- less than this left: written again
local TOLD_TTL_S = 604800
local ESTIMATE_STEP = 1
local ESTIMATE_MS = 15000
local ENDED_MAX = 50     -- pending bookings cancelled in one run
local ENDED_AGAIN_MS = 5000

-- Bounds of the simulation.
local WAITING_MAX = 200
local BARBERS_MAX = 200
local RUNS_MIN = 8
local RUNS_MAX = 48        -- even: every other run mirrors the one before
local STEPS_MAX = 100000   -- barbers looked at, over all runs
local PRIOR_COUNT = 5      -- services that the prior variation counts for
local PRIOR_VARIATION = 0.4
local VARIATION_MIN = 0.05
local VARIATION_MAX = 1

-- ---------------------------------------------------------------------------------------------------------------
-- The simulation. Service times are log-logistic: close to the log-normal that they are known to follow, and the
-- inverse of its distribution, also given that a service has lasted so long, is one expression.

-- Scale and shape of service times with a mean of `minutes`, which vary as was learned (or nil).
local function distribution(minutes, as)
  local prior = PRIOR_VARIATION * PRIOR_VARIATION
  local count = as and as.count or 0
  local square = (prior * PRIOR_COUNT + (as and as.square or 0) * count) / (PRIOR_COUNT + count)
  square = math.min(math.max(square, VARIATION_MIN * VARIATION_MIN), VARIATION_MAX * VARIATION_MAX)
  local shape = math.sqrt(3 * math.log(1 + square)) / math.pi
  return {scale = minutes * math.sin(math.pi * shape) / (math.pi * shape), shape = shape, odds = 0, elapsed = 0}
end

-- The same, given that `elapsed` minutes are over: `draw` gives what remains.
local function begun(service, elapsed)
  service.elapsed = elapsed
  service.odds = (elapsed / service.scale) ^ (1 / service.shape)
  return service
end

-- Minutes for a chance between 0 and 1.
local function draw(service, chance)
  local total = service.scale * ((service.odds + chance) / (1 - chance)) ^ service.shape
  return math.min(total - service.elapsed, SERVICE_MINUTES_MAX)
end

-- One run: minutes until a barber is free for a standard customer who comes now, and for a Black Card one.
-- `free` has false or a service begun for each barber; the lines are in order, `due` in minutes from now. `others` are
-- the Black Card customers still to come, {rate by minute, service}: they are served before a standard customer.
local function simulate(free, lines, others, chance)
  local at = {}
  for index, service in ipairs(free) do at[index] = service and draw(service, chance()) or 0 end
  local heads, black_wait, steps = {1, 1}, nil, 0
  local comes = others and -math.log(chance()) / others.rate or math.huge
  while true do
    local first = 1
    for index = 2, #at do if at[index] < at[first] then first = index end end
    local moment, served = at[first], nil
    for tier = 1, 2 do
      local head = not served and lines[tier][heads[tier]]
      if head and head.due <= moment then
        served, heads[tier] = head.service, heads[tier] + 1
      elseif tier == 1 then
        black_wait = black_wait or moment
        if comes <= moment and steps < WAITING_MAX then
          served, steps, comes = others.service, steps + 1, comes - math.log(chance()) / others.rate
        end
      end
    end
    if not served then return moment, black_wait end
    at[first] = moment + draw(served, chance())
  end
end

local function tenths(minutes)
  return math.floor(minutes * 10 + 0.5) / 10
end

-- Median and 90th percentile of a list.
local function quantiles(waits)
  table.sort(waits)
  local half = #waits / 2
  return tenths((waits[half] + waits[half + 1]) / 2), tenths(waits[math.ceil(#waits * 0.9)])
end

-- The estimate; nil when it cannot be made. Equal states have equal answers: chance is a Lehmer generator whose seed
-- is taken from the bookings.
local function estimate(open, waiting, active, expected, others)
  local names = active >= 1 and active <= BARBERS_MAX and read('SMEMBERS', key.barbers) or {}
  if #names == 0 or #waiting > WAITING_MAX then return nil end
  local busy, anonymous, serving, seed = {}, {}, {}, #names
  for _, name in ipairs(names) do busy[name] = false end
  table.sort(open, function(one, other) return one.id < other.id end)
  for _, it in ipairs(open) do
    seed = (seed * 31 + it.createdAt) % 2147483647
    local elapsed = math.max(0, now_ms - (it.startedAt or now_ms)) / MINUTE_MS
    -- One that lasts longer than services do was forgotten; of two of one barber, the later is the true one.
    if it.status == 'in-progress' and elapsed <= SERVICE_MINUTES_MAX then
      local other = busy[it.barberId or '']
      if not it.barberId then
        anonymous[#anonymous + 1] = begun(expected(it), elapsed)
      elseif other == false or other and other.elapsed > elapsed then
        busy[it.barberId] = begun(expected(it), elapsed)
      end
    end
  end
  table.sort(names)
  for index, name in ipairs(names) do
    serving[index] = busy[name] or table.remove(anonymous) or false
  end

  local lines = {{}, {}}
  for _, it in ipairs(waiting) do
    local line = lines[it.tier == 'blackCard' and 1 or 2]
    local joined = math.max(it.createdAt, it.scheduledAt or 0)
    line[#line + 1] = {
      id = it.id, joined = joined, due = math.max(0, joined - now_ms) / MINUTE_MS, service = expected(it),
    }
  end
  for _, line in ipairs(lines) do
    table.sort(line, function(one, other)
      return one.joined < other.joined or one.joined == other.joined and one.id < other.id
    end)
  end

  local runs = math.min(RUNS_MAX, math.max(RUNS_MIN, 2 * math.floor(STEPS_MAX / 2 / (#waiting + 1) / #names)))
  local standard, black, state, begin = {}, {}, math.max(1, math.floor(seed)), nil
  for index = 1, runs do
    local mirrored = index % 2 == 0
    if mirrored then state = begin else begin = state end
    standard[index], black[index] = simulate(serving, lines, others, function()
      state = state * 16807 % 2147483647
      return mirrored and 1 - state / 2147483647 or state / 2147483647
    end)
  end
  local p50, p90 = quantiles(standard)
  local black_p50, black_p90 = quantiles(black)
  return {minutes = math.ceil(p50), p50 = p50, p90 = p90, blackCard = {p50 = black_p50, p90 = black_p90}}
end

-- ---------------------------------------------------------------------------------------------------------------

check_size()

local settings = read('HMGET', key.settings, 'utcOffsetMinutes', 'estimator')
local offset_ms = utc_offset(settings[1]) * MINUTE_MS
local today = math.floor((now_ms + offset_ms) / DAY_MS)

local open, waiting, at_midnight = {}, {}, false
local ended, next_end = 0, math.huge
local stored = read('HGETALL', key.bookings)
for index = 1, #stored, 2 do
  local it = booking(stored[index + 1])
  if it and OPEN[it.status] then
    it.id = stored[index]
    open[#open + 1] = it
    if it.status == 'pending' and it.endsAt then
      local is_over = it.endsAt <= now_ms and is_booking_id(it.id)
      if is_over and ended < ENDED_MAX then
        later('end_booking', {shopId = args.shopId, bookingId = it.id, because = 'expired'})
        ended = ended + 1
      end
      -- What is over by now leaves soon; should that fail, it is tried again.
      next_end = math.min(next_end, is_over and now_ms + ENDED_AGAIN_MS or math.max(it.endsAt, now_ms + 1))
    end
    if it.status == 'confirmed' then
      local day = it.scheduledAt and math.floor((it.scheduledAt + offset_ms) / DAY_MS)
      if not day or day == today then waiting[#waiting + 1] = it end
      if day and (day == today or day == today + 1) then at_midnight = true end
    end
  end
end

local active = read('SCARD', key.barbers)
local average, tiers, fixed, stated = services()
local status = queue_status(#waiting, active, average)
local wait = status.avgWaitTime
if settings[2] == 'simulated' then
  local function expected(it)
    local tier = tiers[it.tier]
    if it.serviceMinutes then return distribution(it.serviceMinutes * (stated and stated.mean or 1), stated) end
    return distribution(not fixed and tier and tier.mean or average, tier)
  end
  -- While somebody waits, all barbers are busy, and of those they serve a learned share has the Black Card.
  local standard, black = tiers.standard, tiers.blackCard
  local share = standard and black and black.count / (standard.count + black.count)
  local others = share and {rate = share * active / average, service = expected({tier = 'blackCard'})}
  status.estimate = estimate(open, waiting, active, expected, others)
end

local told = decode(read('GET', key.told))
if type(told) ~= 'table' or type(told.at) ~= 'number' or not (told.at >= 0 and told.at <= now_ms + ESTIMATE_MS) then
  told = {at = 0}
end
local changed = told.queueLength ~= #waiting or told.avgWaitTime ~= wait or told.currentlyServing ~= active
local again_ms
if not changed then
  local was, is = tonumber(told.p50), status.estimate and status.estimate.p50
  if (was == nil) ~= (is == nil) or was and math.abs(is - was) >= ESTIMATE_STEP then
    changed = told.at > now_ms or told.at + ESTIMATE_MS <= now_ms
    again_ms = not changed and told.at + ESTIMATE_MS or nil
  end
end

local left_ms = read('PTTL', key.cache)
if changed then
  write('SET', key.told, encode({
    queueLength = #waiting, avgWaitTime = wait, currentlyServing = active,
    p50 = status.estimate and status.estimate.p50, at = now_ms,
  }), 'EX', TOLD_TTL_S)
  emit('shop:' .. args.shopId, 'queue:update', status)
end
-- A longer life than is given here was given by another.
if changed or left_ms <= CACHE_RENEW_MS or left_ms > CACHE_S * 1000 then
  write('SET', key.cache, encode(status), 'EX', CACHE_S)
  left_ms = CACHE_S * 1000
end

if #open == 0 and active == 0 then return {idle = true} end
again_ms = math.min(again_ms or math.huge, next_end)
-- Where nobody serves and nobody waits the status is the one of a shop that nothing is known of: it may expire.
if active > 0 or #waiting > 0 then again_ms = math.min(again_ms, now_ms + left_ms - CACHE_RENEW_MS) end
if at_midnight then again_ms = math.min(again_ms, (today + 1) * DAY_MS - offset_ms) end
return {idle = false, again_ms = again_ms < math.huge and again_ms or nil}
