-- @command  user_pending
-- @summary  Note that a user waits, or waits no more, for a shop to confirm a booking; too many are cancelled.
-- @allow    worker
-- @arg      userId    id
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      endsAt    time optional -- when it ends by itself; without it, the user waits no more
-- @arg      version   int 0..9007199254740991 optional -- of the shop, when it said so
-- @include  version
-- @key      pending   user:{userId}#pending
-- @key      at        user:{userId}#pending_at
-- @key      erased    user:{userId}#erased
-- @calls    end_booking
-- @returns  {count: int}
-- @cost     O(log n) in the user's pending bookings, at most 10
-- @weight   125
--
-- user:U#pending is a zset `SHOP BOOKING` -> endsAt, of the bookings that the user made. A shop decides about itself
-- at once (create_booking.lua); the bound over all shops is kept here, a moment later.
-- Calls come in any order: `pending_at` has the version of the last word about each booking, for an hour.

local PENDING_MAX = 10
local TTL_S = 2678400 -- 31 days: longer than a booking can be pending

local member = args.shopId .. ' ' .. args.bookingId
local over = read('ZCOUNT', key.pending, '-inf', decimal(now_ms))
local count = read('ZCARD', key.pending) - over
local expiry = tonumber(read('ZSCORE', key.pending, member) or 0)
local is_noted = expiry > now_ms
if args.version and args.version <= (integer(read('GET', key.erased), 0, INTEGER_MAX) or 0)
  or not is_newer(key.at, member, args.version) then
  return {count = count}
end
if over > 0 then write('ZREMRANGEBYSCORE', key.pending, '-inf', decimal(now_ms)) end
if not args.endsAt then
  if expiry > 0 then write('ZREM', key.pending, member) end
  return {count = is_noted and count - 1 or count}
end
if not is_noted and count >= PENDING_MAX then
  later('end_booking', {shopId = args.shopId, bookingId = args.bookingId, because = 'too_many'})
  return {count = count}
end
write('ZADD', key.pending, decimal(args.endsAt), member)
write('EXPIRE', key.pending, TTL_S)
return {count = is_noted and count or count + 1}
