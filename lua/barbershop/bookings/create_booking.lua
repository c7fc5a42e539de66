-- @command  create_booking
-- @summary  Book a service at a shop; the booking is pending until the shop confirms it.
-- @http     POST /v1/shops/{shopId}/bookings
-- @allow    user|service
-- @arg      bookingId      id = new -- a service's own number; without it, and for a user always, an id is made
-- @arg      shopId         id
-- @arg      userId         user -- who will be served
-- @arg      tier           enum standard,blackCard = standard -- blackCard is a service's to say
-- @arg      serviceMinutes number 1..480 optional -- how long it is thought to take; a service's to say
-- @arg      scheduledAt    time optional -- without it the booking is a walk-in
-- @include  version
-- @include  booking
-- @include  told
-- @include  pending
-- @key      bookings       shop:{shopId}#bookings
-- @key      closed         shop:{shopId}#closed#{bookingId}
-- @key      pending        shop:{shopId}#pending
-- @key      settings       shop:{shopId}#settings
-- @key      texts          shop:{shopId}#texts
-- @key      version        shop:{shopId}#version
-- @calls    booking_changed, user_booking, user_pending
-- @emits    booking:status_change booking_change -- to the user, and on the booking's topics
-- @returns  {bookingId: string, shopId: string, status: 'pending', createdAt: string, endsAt: string, topic: string}
-- @errors   conflict, forbidden, not_found, too_many
-- @cost     O(1)
-- @weight   300
-- @rate     12/60 s user
-- @rate     40/86400 s user
-- @random
--
-- A user chooses neither the id nor what makes others wait longer (tier, serviceMinutes): the service that confirms
-- the booking says those (move_booking.lua). A user books only at shops that have settings, and has at most
-- PENDING_USER_MAX pending bookings at each; user_pending.lua bounds those at all shops. A booking that is still
-- pending at `endsAt` is cancelled (queue_refresh.lua, end_booking.lua).

local OPEN_MAX = 1000
local WALK_IN_MS = 86400000
local PENDING = 'pending'
local NEW = 'new'

local is_user = caller.role == 'user'
if args.scheduledAt and (args.scheduledAt < 0 or args.scheduledAt > YEAR_9999_MS) then
  fail('bad_request', 'scheduledAt must be a time between the years 1970 and 9999')
end
if is_user and args.bookingId ~= NEW then
  fail('bad_request', 'Leave bookingId out: the id of a user\'s booking is made for it')
end
if is_user and (args.tier ~= 'standard' or args.serviceMinutes) then
  fail('forbidden', 'Only a service may say that a booking is for the Black Card, or how long the service takes')
end

local id = args.bookingId == NEW and 'u-' .. random or args.bookingId
local mine
if is_user then
  if read('EXISTS', key.settings) == 0 then fail('not_found', 'There is no such shop to book at') end
  mine = pending_of(args.userId)
  if #mine >= PENDING_USER_MAX then
    fail('too_many', 'A user has at most ' .. PENDING_USER_MAX .. ' bookings at a shop that wait to be confirmed')
  end
  if #mine == 0 and read('HLEN', key.pending) >= PENDING_USERS_MAX then
    fail('conflict', 'Too many bookings at the shop wait to be confirmed')
  end
elseif args.bookingId ~= NEW and (read('HEXISTS', key.bookings, id) == 1 or read('EXISTS', key.closed) == 1) then
  fail('conflict', 'The shop has a booking of that id')
end
if read('HLEN', key.bookings) >= OPEN_MAX then
  fail('conflict', 'The shop is full: it can have at most ' .. OPEN_MAX .. ' open bookings')
end

local ends_at = now_ms + WALK_IN_MS
if args.scheduledAt then
  ends_at = math.min(math.max(args.scheduledAt, now_ms + HOUR_MS), now_ms + PENDING_MS_MAX)
end
write('HSET', key.bookings, id, encode({
  userId = args.userId, tier = args.tier, status = PENDING, serviceMinutes = args.serviceMinutes,
  scheduledAt = args.scheduledAt, createdAt = now_ms, endsAt = ends_at,
}))
if mine then
  mine[#mine + 1] = id
  store_pending(args.userId, mine)
  later('user_pending', {
    userId = args.userId, shopId = args.shopId, bookingId = id, endsAt = ends_at, version = booking_version(),
  })
end
tell(args.shopId, id, args.userId, PENDING, 'received')
return {
  bookingId = id, shopId = args.shopId, status = PENDING, createdAt = iso(now_ms), endsAt = iso(ends_at),
  topic = booking_topic(args.shopId, id),
}
