-- @command  bid
-- @summary  Bid for the lot that the user sits at; who led until now is told.
-- @http     POST /api/v2/bids 201
-- @allow    user
-- @arg      userId    user
-- @arg      bidId     id as id
-- @arg      cents     int 1..1000000000 as amount_cents
-- @resolve  lotId = user:{userId}#seat else no_seat 404 -- Take a seat first.
-- @key      lot       lot:{lotId}#lot
-- @topic    lot:{lotId}
-- @topic    user:*
-- @emits    bid.placed {lot_id: string, id: string, amount_cents: int, bids: int, least_cents: int}
-- @emits    bid.passed {lot_id: string, amount_cents: int} -- to the user who led until now
-- @returns  {lot_id: string, id: string, amount_cents: int, bids: int}
-- @errors   no_lot 404, too_low, leads_already
-- @cost     O(1)
-- @weight   150
-- @rate     20/60 s user
--
-- Nobody is told who bids: the events name no user.

local lot = read('HMGET', key.lot, 'least', 'step', 'bids', 'leader', 'closed')
local least = integer(lot[1], 1, INTEGER_MAX)
local step = integer(lot[2], 1, INTEGER_MAX)
local bids = integer(lot[3], 0, INTEGER_MAX)
local leader = lot[4]
if not least or not step or not bids or lot[5] then fail('no_lot', 'This lot is not for sale.') end
if leader == args.userId then fail('leads_already', 'Your bid is the highest already.') end
if args.cents < least then fail('too_low', 'Bid at least ' .. decimal(least) .. ' cents.') end

bids = bids + 1
write('HSET', key.lot, 'leader', args.userId, 'bids', decimal(bids), 'least', decimal(args.cents + step))
emit('lot:' .. args.lotId, 'bid.placed', {
  lot_id = args.lotId, id = args.bidId, amount_cents = args.cents, bids = bids, least_cents = args.cents + step
})
if leader then emit('user:' .. leader, 'bid.passed', {lot_id = args.lotId, amount_cents = args.cents}) end
return {lot_id = args.lotId, id = args.bidId, amount_cents = args.cents, bids = bids}
