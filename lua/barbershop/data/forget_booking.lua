-- @command  forget_booking
-- @summary  Forget whose a booking of a shop is; one that is open ends by it.
-- @allow    worker
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      userId    id
-- @include  booking
-- @key      bookings  shop:{shopId}#bookings
-- @key      closed    shop:{shopId}#closed#{bookingId}
-- @key      pending   shop:{shopId}#pending
-- @calls    forget_booking_topic
-- @returns  {forgotten: bool}
-- @cost     O(1)
-- @weight   200
-- @idempotent
--
-- What is left is a text without a user, which is nobody's booking: it only keeps the number from being used again
-- before a week is over. A service in progress counts as completed, and teaches nothing.

local DAY_S = 86400

local it = booking(read('HGET', key.bookings, args.bookingId))
local open = it ~= nil
if not open then it = booking(read('GET', key.closed)) end
if not it or it.userId ~= args.userId then return {forgotten = false} end

local status = it.status
local age_s = open and 0 or CLOSED_TTL_S - read('TTL', key.closed)
if open then
  status = status == 'in-progress' and 'completed' or 'cancelled'
  write('HDEL', key.bookings, args.bookingId)
end
write('SET', key.closed, encode({status = status, createdAt = it.createdAt}), 'EX', CLOSED_TTL_S)
write('HDEL', key.pending, args.userId)
for _, topic in ipairs({
  shop_topic(args.shopId, args.bookingId) or false, number_topic(args.bookingId) or false,
}) do
  if topic then
    later('forget_booking_topic', {
      bookingId = topic, number = args.bookingId, shopId = args.shopId, userId = args.userId,
      status = open and status or nil, isNew = open or age_s < DAY_S,
    })
  end
end
return {forgotten = true}
