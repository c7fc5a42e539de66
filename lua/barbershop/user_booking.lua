-- @command  user_booking
-- @summary  Note which shop has a booking of a user, so that it is found when the user's data are erased or told.
-- @allow    worker
-- @arg      userId    id
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      open      bool -- whether the booking goes on
-- @key      bookings  user:{userId}#bookings
-- @returns  {}
-- @cost     O(log n) in the user's bookings, at most 1000
-- @weight   150
-- @idempotent
--
-- user:U#bookings is a zset `SHOP BOOKING` -> when the shop has forgotten the booking, ms: a closed one after a week
-- (move_booking.lua). An open one stays for a year after its last change, as nothing but its shop ends it. Beyond
-- BOOKINGS_MAX those that end first are no longer noted.

local BOOKINGS_MAX = 1000
local OPEN_MS = 31622400000 -- 366 days
local CLOSED_MS = 691200000 -- 8 days

local ends = now_ms + (args.open and OPEN_MS or CLOSED_MS)
write('ZREMRANGEBYSCORE', key.bookings, '-inf', decimal(now_ms))
write('ZADD', key.bookings, decimal(ends), args.shopId .. ' ' .. args.bookingId)
write('ZREMRANGEBYRANK', key.bookings, 0, -1 - BOOKINGS_MAX)
write('PEXPIRE', key.bookings, OPEN_MS)
return {}
