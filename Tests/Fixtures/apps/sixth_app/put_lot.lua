-- @command  put_lot
-- @summary  Put a lot up for sale, or change what it is while nobody has bid for it.
-- @http     PUT /api/v2/lots/{lot_id} 201
-- @allow    service
-- @arg      lotId     id fold lower as lot_id
-- @arg      title     string 1..200 as lot_title
-- @arg      start     int 1..100000000 = 100 as start_cents -- the least that the first bid must be
-- @arg      step      int 1..1000000 = 100 as step_cents -- by how much a bid must pass the last one
-- @key      lot       lot:{lotId}#lot
-- @topic    lot:{lotId}
-- @emits    lot.put lot
-- @returns  lot
-- @type     lot {lot_id: string, lot_title: string, least_cents: int}
-- @errors   has_bids
-- @cost     O(1)
-- @weight   120
--
-- lot:L#lot is a hash: title, least (what the next bid must be, in cents), step, bids, leader, closed.

local LOT_SECONDS = 2592000

if (integer(read('HGET', key.lot, 'bids'), 0, INTEGER_MAX) or 0) > 0 then
  fail('has_bids', 'Somebody has bid for this lot already.')
end
write('DEL', key.lot)
write('HSET', key.lot, 'title', args.title, 'least', decimal(args.start), 'step', decimal(args.step), 'bids', '0')
write('EXPIRE', key.lot, LOT_SECONDS)
local lot = {lot_id = args.lotId, lot_title = args.title, least_cents = args.start}
emit('lot:' .. args.lotId, 'lot.put', lot)
return lot
