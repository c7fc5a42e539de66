-- @command  shop_bookings
-- @summary  The open bookings of a shop, by pages.
-- @http     GET /v1/shops/{shopId}/bookings
-- @allow    service
-- @arg      shopId id
-- @arg      status enum pending,confirmed,in-progress optional -- those of this status alone
-- @arg      after  id optional -- the `next` of the page before
-- @arg      limit  int 1..100 = 50
-- @include  booking
-- @key      bookings shop:{shopId}#bookings
-- @returns  {shopId: string, bookings: [{bookingId: string, userId: string, tier: tier, status: status,
--           scheduledAt: string|null, createdAt: string, barberId: string|null}], next: string|null}
-- @errors   too_large
-- @cost     O(n log n) in open bookings, at most 2000
-- @weight   2000
-- @readonly
--
-- In the order of their ids; next is null behind the last page. Entries of backends that are no bookings are left out.

local LOOKED_MAX = 200 -- bookings that one page reads

if read('HLEN', key.bookings) > OPEN_FIELDS_MAX then
  fail('too_large', 'The shop has more than ' .. OPEN_FIELDS_MAX .. ' open bookings')
end
local found, texts, ids = read('HGETALL', key.bookings), {}, {}
for index = 1, #found, 2 do
  local id = found[index]
  if is_booking_id(id) and (not args.after or id > args.after) then
    ids[#ids + 1], texts[id] = id, found[index + 1]
  end
end
table.sort(ids)
local bookings, looked = array(), 0
while looked < math.min(#ids, LOOKED_MAX) and #bookings < args.limit do
  looked = looked + 1
  local it = booking(texts[ids[looked]])
  if it and (not args.status or it.status == args.status) then
    bookings[#bookings + 1] = {
      bookingId = ids[looked], userId = it.userId, tier = it.tier, status = it.status,
      scheduledAt = it.scheduledAt and iso(it.scheduledAt) or null, createdAt = iso(it.createdAt),
      barberId = it.barberId or null,
    }
  end
end
return {shopId = args.shopId, bookings = bookings, next = looked < #ids and ids[looked] or null}
