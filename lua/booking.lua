-- @command  booking
-- @summary  One booking, open or closed within the last seven days; a user sees own ones only.
-- @http     GET /v1/shops/{shopId}/bookings/{bookingId}
-- @allow    user|service
-- @arg      shopId    id
-- @arg      bookingId id
-- @key      bookings  shop:{shopId}#bookings
-- @key      closed    shop:{shopId}#closed#{bookingId}
-- @returns  {bookingId, shopId, userId, tier, status, serviceMinutes, scheduledAt, createdAt, startedAt, barberId}
-- @errors   not_found, forbidden
-- @cost     O(1)
-- @readonly
--
-- A booking in progress has estimatedCompletion too. Times are ISO 8601; what a booking has not is null.

local BOOKING_BYTES_MAX = 4096
local SERVICE_MINUTES_MAX = 480
local YEAR_9999_MS = 253370764800000

local TIERS = {standard = true, blackCard = true}
local STATUSES = {
  pending = true, confirmed = true, ['in-progress'] = true, completed = true, cancelled = true, ['no-show'] = true,
}
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

local function time(ms)
  return ms and iso(ms) or null
end

local it = booking(read('HGET', key.bookings, args.bookingId) or read('GET', key.closed))
if not it then fail('not_found', 'The shop has no such booking') end
if caller.role == 'user' and caller.user ~= it.userId then fail('forbidden', 'The booking is of another user') end
return {
  bookingId = args.bookingId, shopId = args.shopId, userId = it.userId, tier = it.tier, status = it.status,
  serviceMinutes = it.serviceMinutes or null, scheduledAt = time(it.scheduledAt), createdAt = time(it.createdAt),
  startedAt = time(it.startedAt), barberId = it.barberId or null, estimatedCompletion = time(it.estimatedCompletion),
}
