-- @command  create_booking
-- @summary  Book a service at a shop; the booking is pending until the shop confirms it.
-- @http     POST /v1/shops/{shopId}/bookings
-- @allow    user|service
-- @arg      bookingId      id
-- @arg      shopId         id
-- @arg      userId         user -- who will be served
-- @arg      tier           enum standard,blackCard
-- @arg      serviceMinutes number 1..480 optional -- how long the service is thought to take
-- @arg      scheduledAt    time optional -- without it the booking is a walk-in
-- @key      bookings       shop:{shopId}#bookings
-- @key      closed         shop:{shopId}#closed#{bookingId}
-- @topic    user:*
-- @calls    booking_changed, notify
-- @emits    booking:status_change {bookingId, status} -- to the user, and on the booking's topic
-- @returns  {bookingId, shopId, status, createdAt}
-- @errors   conflict
-- @cost     O(1)
-- @weight   200
--
-- The tier is what the caller says: the service that confirms the booking answers for it.

local OPEN_MAX = 1000
local BOOKING_BYTES_MAX = 4096
local YEAR_9999_MS = 253370764800000
local PENDING = 'pending'

if args.scheduledAt and (args.scheduledAt < 0 or args.scheduledAt > YEAR_9999_MS) then
  fail('bad_request', 'scheduledAt must be a time between the years 1970 and 9999')
end

local found = read('HGET', key.bookings, args.bookingId) or read('GET', key.closed)
if found then
  local other = #found <= BOOKING_BYTES_MAX and decode(found)
  local status = type(other) == 'table' and type(other.status) == 'string' and other.status or 'unknown'
  fail('conflict', 'The booking exists already; its status is ' .. status)
end
if read('HLEN', key.bookings) >= OPEN_MAX then
  fail('conflict', 'The shop is full: it can have at most ' .. OPEN_MAX .. ' open bookings')
end

write('HSET', key.bookings, args.bookingId, encode({
  userId = args.userId, tier = args.tier, status = PENDING, serviceMinutes = args.serviceMinutes,
  scheduledAt = args.scheduledAt, createdAt = now_ms,
}))
later('booking_changed', {
  bookingId = args.bookingId, shopId = args.shopId, userId = args.userId, status = PENDING,
})
emit('user:' .. args.userId, 'booking:status_change', {bookingId = args.bookingId, status = PENDING})
later('notify', {
  userId = args.userId, type = 'booking_status_change', title = 'Booking received',
  body = 'The shop will confirm your booking.',
  data = {bookingId = args.bookingId, shopId = args.shopId, status = PENDING},
})
return {bookingId = args.bookingId, shopId = args.shopId, status = PENDING, createdAt = iso(now_ms)}
