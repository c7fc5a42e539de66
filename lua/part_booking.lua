-- @part     booking
-- @summary  What a booking is in Redis: the reader of its text, and the bounds of its members.
--
-- Backends write bookings too (lua/README.md has the layout); a text that is no booking is none, whatever it is.

local BOOKING_BYTES_MAX = 4096
local YEAR_9999_MS = 253370764800000
local SERVICE_MINUTES_MIN = 1
local SERVICE_MINUTES_MAX = 480 -- a longer or shorter service was not marked when it began or ended

local TIERS = {standard = true, blackCard = true}
local OPEN = {pending = true, confirmed = true, ['in-progress'] = true}
local CLOSED = {completed = true, cancelled = true, ['no-show'] = true}
local NUMBERS = {
  serviceMinutes = SERVICE_MINUTES_MAX, scheduledAt = YEAR_9999_MS, createdAt = YEAR_9999_MS, startedAt = YEAR_9999_MS,
  estimatedCompletion = YEAR_9999_MS,
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
