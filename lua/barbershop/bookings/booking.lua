-- @command  booking
-- @summary  One booking, open or closed within the last seven days; a user sees own ones only.
-- @http     GET /v1/shops/{shopId}/bookings/{bookingId}
-- @allow    user|service
-- @arg      shopId    id
-- @arg      bookingId id
-- @include  booking
-- @key      bookings  shop:{shopId}#bookings
-- @key      closed    shop:{shopId}#closed#{bookingId}
-- @returns  {bookingId: string, shopId: string, userId: string, tier: tier, status: status,
--           serviceMinutes: number|null, scheduledAt: string|null, createdAt: string, startedAt: string|null,
--           barberId: string|null, estimatedCompletion: string|null, endsAt: string|null, topic: string}
-- @errors   not_found
-- @cost     O(1)
-- @weight   100
-- @readonly
--
-- Also `topic`, to subscribe to. A booking in progress has estimatedCompletion, a pending one that ends by itself
-- endsAt. Times are ISO 8601; what a booking has not is null. To a user the booking of another user is as none.

local function time(ms)
  return ms and iso(ms) or null
end

local it = booking(read('HGET', key.bookings, args.bookingId) or read('GET', key.closed))
if not it or caller.role == 'user' and caller.user ~= it.userId then
  fail('not_found', 'The shop has no such booking')
end
return {
  bookingId = args.bookingId, shopId = args.shopId, userId = it.userId, tier = it.tier, status = it.status,
  serviceMinutes = it.serviceMinutes or null, scheduledAt = time(it.scheduledAt), createdAt = time(it.createdAt),
  startedAt = time(it.startedAt), barberId = it.barberId or null, estimatedCompletion = time(it.estimatedCompletion),
  endsAt = time(it.endsAt), topic = booking_topic(args.shopId, args.bookingId),
}
