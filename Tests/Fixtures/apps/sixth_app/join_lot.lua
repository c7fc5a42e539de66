-- @subscribe  lot
-- @summary    Whoever has seen a lot put up may watch it; tells the least next bid, and whether the caller leads.
-- @key        lot  lot:{id}#lot
-- @errors     no_lot 404
-- @cost       O(1)
-- @weight     80

local lot = read('HMGET', key.lot, 'title', 'least', 'bids', 'leader', 'closed')
local least = integer(lot[2], 1, INTEGER_MAX)
if not least then fail('no_lot', 'There is no such lot.') end
return {
  lot_title = lot[1],
  least_cents = least,
  bids = integer(lot[3], 0, INTEGER_MAX) or 0,
  leads = caller.user ~= nil and caller.user == lot[4],
  closed = lot[5] and true or false
}
