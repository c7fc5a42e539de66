-- @command  end_booking
-- @summary  Cancel a booking that nobody has confirmed: its time is over, or its user has too many.
-- @allow    worker
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      because   enum expired,too_many
-- @include  version
-- @include  booking
-- @include  told
-- @include  pending
-- @key      bookings  shop:{shopId}#bookings
-- @key      closed    shop:{shopId}#closed#{bookingId}
-- @key      pending   shop:{shopId}#pending
-- @key      texts     shop:{shopId}#texts
-- @key      version   shop:{shopId}#version
-- @calls    booking_changed, user_booking, user_pending
-- @emits    booking:status_change booking_change -- to the user, and on the booking's topics
-- @returns  {ended: bool}
-- @cost     O(1)
-- @weight   250
--
-- What was confirmed or cancelled in the meantime stays as it is.

local CANCELLED = 'cancelled'

local it = booking(read('HGET', key.bookings, args.bookingId))
if not it or it.status ~= 'pending' then return {ended = false} end
if args.because == 'expired' and not (it.endsAt and it.endsAt <= now_ms) then return {ended = false} end

write('HDEL', key.bookings, args.bookingId)
write('SET', key.closed, encode({
  userId = it.userId, tier = it.tier, status = CANCELLED, serviceMinutes = it.serviceMinutes,
  scheduledAt = it.scheduledAt, createdAt = it.createdAt,
}), 'EX', CLOSED_TTL_S)
leave_pending(args.shopId, it.userId, args.bookingId)
tell(args.shopId, args.bookingId, it.userId, CANCELLED, args.because)
return {ended = true}
