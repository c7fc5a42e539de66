-- @command  booking_changed
-- @summary  Note and tell a booking's new status on the booking's own topic, and admit its user to it.
-- @allow    worker
-- @arg      bookingId           id
-- @arg      shopId              id
-- @arg      userId              id
-- @arg      status              enum pending,confirmed,in-progress,completed,cancelled,no-show
-- @arg      estimatedCompletion time optional
-- @key      state               booking:{bookingId}#state
-- @key      members             booking:{bookingId}#members
-- @topic    booking:{bookingId}
-- @emits    booking:status_change {bookingId, status, estimatedCompletion}
-- @returns  {}
-- @cost     O(1)
-- @weight   200
--
-- The shop's script decides (create_booking.lua, move_booking.lua); this one tells, in the order of their decisions.

local KEPT_S = 604800

local completion = args.estimatedCompletion and iso(args.estimatedCompletion)
write('SET', key.state, encode({
  bookingId = args.bookingId, shopId = args.shopId, status = args.status, estimatedCompletion = completion,
}), 'EX', KEPT_S)
write('SADD', key.members, args.userId)
write('EXPIRE', key.members, KEPT_S)
emit('booking:' .. args.bookingId, 'booking:status_change', {
  bookingId = args.bookingId, status = args.status, estimatedCompletion = completion,
})
return {}
