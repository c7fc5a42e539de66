-- @command  close_lot
-- @summary  End a lot's sale, and tell everybody who sits there who won.
-- @http     POST /api/v2/lots/{lot_id}/close 202
-- @allow    service
-- @arg      lotId     id fold lower as lot_id
-- @key      lot       lot:{lotId}#lot
-- @key      seats     lot:{lotId}#seats
-- @topic    lot:{lotId}
-- @topic    user:*
-- @emits    lot.closed {lot_id: string, bids: int} -- on the lot's topic
-- @emits    sale.ended {lot_id: string, won: bool} -- to everybody who sits there
-- @returns  {lot_id: string, winner: string|null, told: int}
-- @errors   no_lot 404, closed_already
-- @cost     O(n) in seats
-- @weight   1000

local SEATS_MAX = 300

local lot = read('HMGET', key.lot, 'bids', 'leader', 'closed')
local bids = integer(lot[1], 0, INTEGER_MAX)
local leader = lot[2]
if not bids then fail('no_lot', 'There is no such lot.') end
if lot[3] then fail('closed_already', 'The sale has ended before.') end

write('HSET', key.lot, 'closed', decimal(now_ms))
write('DEL', key.seats)
emit('lot:' .. args.lotId, 'lot.closed', {lot_id = args.lotId, bids = bids})
local topics, news = {}, {}
for index, user in ipairs(read('ZRANGE', key.seats, 0, SEATS_MAX - 1)) do
  topics[index] = 'user:' .. user
  news[index] = {lot_id = args.lotId, won = user == leader}
end
if #topics > 0 then emit_each(topics, 'sale.ended', news) end
return {lot_id = args.lotId, winner = leader or null, told = #topics}
