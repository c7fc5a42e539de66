-- @part     booking
-- @summary  What a booking is in Redis: the reader of its text, the bounds of its members, and its topics.
-- @type     status 'pending'|'confirmed'|'in-progress'|'completed'|'cancelled'|'no-show'
-- @type     tier 'standard'|'blackCard'
--
-- Backends write bookings too; a text that is no booking is none, whatever it is.

local BOOKING_BYTES_MAX = 4096
local SERVICE_MINUTES_MIN = 1
local SERVICE_MINUTES_MAX = 480 -- a longer or shorter service was not marked when it began or ended
local ID_BYTES_MAX = 200

local TIERS = {standard = true, blackCard = true}
-- A booking never moves back to a lower rank.
local RANKS = {pending = 0, confirmed = 1, ['in-progress'] = 2, completed = 3, cancelled = 3, ['no-show'] = 3}
local OPEN = {pending = true, confirmed = true, ['in-progress'] = true}
local CLOSED = {completed = true, cancelled = true, ['no-show'] = true}
local NUMBERS = {
  serviceMinutes = SERVICE_MINUTES_MAX, scheduledAt = YEAR_9999_MS, createdAt = YEAR_9999_MS, startedAt = YEAR_9999_MS,
  estimatedCompletion = YEAR_9999_MS, endsAt = YEAR_9999_MS,
}

-- The booking that a text holds, nil when it holds none; null members are absent ones.
local function booking(text)
  local it = type(text) == 'string' and #text <= BOOKING_BYTES_MAX and decode(text)
  if type(it) ~= 'table' or not is_id(it.userId) or not TIERS[it.tier] then return nil end
  if not OPEN[it.status] and not CLOSED[it.status] then return nil end
  for name, most in pairs(NUMBERS) do
    local value, least = it[name], name == 'serviceMinutes' and SERVICE_MINUTES_MIN or 0
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

-- Whether a field of others can be a booking's id.
local function is_booking_id(text)
  return #text <= ID_BYTES_MAX and string.find(text, '^[A-Za-z0-9._~:-]+$') ~= nil
end

-- The id of the topic that no other shop's booking can have: SHOP::NUMBER. The first `::` parts the two, so a shop
-- whose id has one, or ends in `:`, has no such topics.
local function shop_topic(shop, number)
  local id = shop .. '::' .. number
  if #id > ID_BYTES_MAX or string.find(shop, '::', 1, true) or string.sub(shop, -1) == ':' then return nil end
  return id
end

-- The id of the topic named by the booking's number alone. It is the booking's that took it first
-- (booking_changed.lua). A number that reads like SHOP::NUMBER has none.
local function number_topic(number)
  return not string.find(number, '::', 1, true) and number or nil
end

-- The topic that a client of the booking should subscribe to.
local function booking_topic(shop, number)
  return 'booking:' .. (shop_topic(shop, number) or number)
end
