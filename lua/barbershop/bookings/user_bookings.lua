-- @command  user_bookings
-- @summary  A user's bookings at all shops, open ones first, then those that ended within the last week.
-- @http     GET /v1/users/{userId}/bookings
-- @allow    user|service
-- @arg      userId user
-- @arg      after  int 0..1000 = 0 -- how many to leave out: `next` of the page before
-- @arg      limit  int 1..100 = 50
-- @key      bookings user:{userId}#bookings
-- @returns  {bookings: [{shopId: string, bookingId: string, status: 'pending'|'confirmed'|'in-progress'|'closed',
--           changedAt: string}], next: int|null} -- next is null behind the last page
-- @cost     O(log n) in the user's bookings, O(m) in those told, at most 100
-- @weight   700
-- @readonly
--
-- A booking that ended has the status `closed`: `booking` tells how, and all else of one. The list is what the user's
-- home has noted (user_booking.lua), which is a moment behind the shop.

local STATUSES = {[0] = 'pending', 'confirmed', 'in-progress', 'closed'}

local found, told = read('ZREVRANGE', key.bookings, args.after, args.after + args.limit, 'WITHSCORES'), array()
local has_more = #found > 2 * args.limit
for index = 1, math.min(#found, 2 * args.limit), 2 do
  local shop, number_of = string.match(found[index], '^([%w._~:-]+) ([%w._~:-]+)$')
  local score = number(found[index + 1]) or 0
  local rank = math.floor(score % 1 * 8 + 0.5) % 4
  local at = math.floor(score) - (rank < 3 and OPEN_MS or CLOSED_MS)
  if shop and score > now_ms and at >= 0 and at <= YEAR_9999_MS then
    told[#told + 1] = {shopId = shop, bookingId = number_of, status = STATUSES[rank], changedAt = iso(at)}
  end
end
return {bookings = told, next = has_more and args.after + args.limit or null}
