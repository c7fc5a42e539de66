-- @command  reschedule_booking
-- @summary  Give a booking another time; a user may as long as the shop has not confirmed it.
-- @http     PATCH /v1/shops/{shopId}/bookings/{bookingId}
-- @allow    user|service
-- @arg      shopId      id
-- @arg      bookingId   id
-- @arg      scheduledAt time
-- @arg      userId      user optional -- whose booking it is; without it, the shop does it
-- @include  version
-- @include  booking
-- @include  told
-- @key      bookings    shop:{shopId}#bookings
-- @key      texts       shop:{shopId}#texts
-- @key      version     shop:{shopId}#version
-- @calls    booking_changed, user_booking
-- @emits    booking:status_change booking_change -- to the user, and on the booking's topics
-- @returns  {bookingId: string, shopId: string, status: status, scheduledAt: string}
-- @errors   not_found, forbidden, conflict
-- @cost     O(1)
-- @weight   300
-- @rate     12/60 s user
-- @rate     40/86400 s user
--
-- The shop may change a confirmed booking, too. A pending one ends by itself as before, at the latest 30 days from now.

if args.scheduledAt < now_ms or args.scheduledAt > YEAR_9999_MS then
  fail('bad_request', 'scheduledAt must be a time to come')
end
local it = booking(read('HGET', key.bookings, args.bookingId))
if not it or args.userId and args.userId ~= it.userId then fail('not_found', 'The shop has no such open booking') end
if it.status == 'in-progress' then fail('conflict', 'The service has begun') end
if args.userId and it.status ~= 'pending' then
  fail('forbidden', 'The shop has confirmed this booking; ask the shop to change its time, or cancel it')
end
it.scheduledAt = args.scheduledAt
local ends_at = it.endsAt and math.min(math.max(args.scheduledAt, now_ms + HOUR_MS), now_ms + PENDING_MS_MAX)
write('HSET', key.bookings, args.bookingId, encode({
  userId = it.userId, tier = it.tier, status = it.status, serviceMinutes = it.serviceMinutes,
  scheduledAt = it.scheduledAt, createdAt = it.createdAt, barberId = it.barberId, endsAt = ends_at,
}))
tell(args.shopId, args.bookingId, it.userId, it.status, 'rescheduled', nil, it.scheduledAt)
return {
  bookingId = args.bookingId, shopId = args.shopId, status = it.status, scheduledAt = iso(it.scheduledAt),
}
