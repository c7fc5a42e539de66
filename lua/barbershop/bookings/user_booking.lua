-- @command  user_booking
-- @summary  Note at a user's home what became of a booking, and tell the user's devices unless they know better.
-- @allow    worker
-- @arg      userId    id
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      status    enum pending,confirmed,in-progress,completed,cancelled,no-show optional
-- @arg      estimatedCompletion time optional
-- @arg      scheduledAt time optional -- the time that the booking is for
-- @arg      titleKey  string 1..100 optional -- the app's own text in place of the title, in a push
-- @arg      bodyKey   string 1..100 optional
-- @arg      title     string 1..200 optional -- of the notification
-- @arg      body      string 0..2000 optional
-- @arg      version   int 0..9007199254740991 optional -- of the shop, when it said so
-- @arg      open      bool optional -- from gateways of before: only noted, with no status
-- @include  version
-- @include  booking
-- @include  json
-- @include  pushes
-- @include  inbox
-- @key      bookings  user:{userId}#bookings
-- @key      erased    user:{userId}#erased
-- @key      inbox     user:{userId}#inbox
-- @key      unread    user:{userId}#unread
-- @key      devices   user:{userId}#devices
-- @key      pushes    user:{userId}#pushes
-- @topic    user:{userId}
-- @calls    forget_booking
-- @emits    booking:status_change booking_change
-- @emits    notification notification
-- @returns  {told: bool}
-- @errors   conflict
-- @cost     O(log n) in the user's bookings, at most 1000
-- @weight   900
--
-- user:U#bookings is a zset `SHOP BOOKING` -> when the shop has forgotten the booking, ms: a closed one after a week
-- (move_booking.lua). An open one stays for a year after its last change, as nothing but its shop ends it. Beyond
-- BOOKINGS_MAX those that end first are no longer noted.
--
-- Calls come in any order. The eighths of the score are the rank of the status (part_booking.lua), which never falls:
-- a status of a lower rank is over and is not told. A closed number may be used again a week later.

local BOOKINGS_MAX = 1000

if args.version and args.version <= (integer(read('GET', key.erased), 0, INTEGER_MAX) or 0) then
  later('forget_booking', {shopId = args.shopId, bookingId = args.bookingId, userId = args.userId})
  return {told = false}
end
local member = args.shopId .. ' ' .. args.bookingId
local rank = args.status and RANKS[args.status] or args.open and 0 or 3
local at = args.version and math.floor(args.version / 1000) or now_ms
local noted = number(read('ZSCORE', key.bookings, member)) or 0
local known = math.floor(noted % 1 * 8)
if noted > now_ms and known == 3 and at < noted - CLOSED_MS + DAY_MS or noted > now_ms and rank < known then
  return {told = false}
end
write('ZREMRANGEBYSCORE', key.bookings, '-inf', decimal(now_ms))
write('ZADD', key.bookings, string.format('%.3f', at + (rank < 3 and OPEN_MS or CLOSED_MS) + rank / 8), member)
write('ZREMRANGEBYRANK', key.bookings, 0, -1 - BOOKINGS_MAX)
write('PEXPIRE', key.bookings, OPEN_MS)
if not args.status then return {told = false} end
emit('user:' .. args.userId, 'booking:status_change', {
  bookingId = args.bookingId, status = args.status,
  estimatedCompletion = args.estimatedCompletion and iso(args.estimatedCompletion),
  scheduledAt = args.scheduledAt and iso(args.scheduledAt),
})
if args.title then
  put_notification('booking_status_change', args.title, args.body or '', stored(encode({
    bookingId = args.bookingId, shopId = args.shopId, status = args.status,
  })), {titleKey = args.titleKey, bodyKey = args.bodyKey})
end
return {told = true}
