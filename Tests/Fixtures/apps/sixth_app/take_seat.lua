-- @command  take_seat
-- @summary  Sit down at a lot; a user bids for one lot at a time.
-- @http     POST /api/v2/lots/{lot_id}/seat
-- @allow    user
-- @arg      userId    user
-- @arg      lotId     id fold lower as lot_id
-- @span     -- The lot's list of seats and the user's own seat change at once.
-- @key      seats     lot:{lotId}#seats
-- @key      lot       lot:{lotId}#lot
-- @key      seat      user:{userId}#seat
-- @topic    lot:{lotId}
-- @emits    seat.taken {lot_id: string, seats: int}
-- @returns  {lot_id: string, seats: int}
-- @errors   no_lot 404, full 423
-- @cost     O(log n) in seats
-- @weight   150
-- @rate     30/60 s user
--
-- lot:L#seats is a sorted set: who sat down, by the time. user:U#seat is the lot's id. Both end after a day.

local SEATS_MAX = 300
local SEAT_SECONDS = 86400

if read('EXISTS', key.lot) == 0 or read('HGET', key.lot, 'closed') then fail('no_lot', 'This lot is not for sale.') end
local seats = read('ZCARD', key.seats)
local sits = read('ZSCORE', key.seats, args.userId)
if not sits and seats >= SEATS_MAX then fail('full', 'Every seat is taken.') end

write('SET', key.seat, args.lotId, 'EX', SEAT_SECONDS)
write('ZADD', key.seats, now_ms, args.userId)
write('EXPIRE', key.seats, SEAT_SECONDS)
if not sits then
  seats = seats + 1
  emit('lot:' .. args.lotId, 'seat.taken', {lot_id = args.lotId, seats = seats})
end
return {lot_id = args.lotId, seats = seats}
