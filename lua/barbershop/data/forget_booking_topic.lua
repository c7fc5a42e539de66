-- @command  forget_booking_topic
-- @summary  Forget whose a booking's topic is, and tell how the booking ended by that.
-- @allow    worker
-- @arg      bookingId id -- the topic's id
-- @arg      number    id -- the booking's id in its shop
-- @arg      shopId    id
-- @arg      userId    id
-- @arg      status    enum completed,cancelled optional -- without it the booking had ended before
-- @arg      isNew     bool = false -- the booking changed within a day: its topic is the shop's, told or not
-- @key      owner     booking:{bookingId}#owner
-- @key      state     booking:{bookingId}#state
-- @topic    booking:{bookingId}
-- @members
-- @emits    booking:status_change booking_change
-- @returns  {forgotten: bool}
-- @cost     O(1)
-- @weight   250
-- @idempotent
--
-- The topic stays the shop's until its time is over (booking_changed.lua): its owner has no third word any more.
-- The call may come before those that would have named the user (booking_changed.lua); then they are refused.

local owned = args.shopId .. ' ' .. args.number
local owner = read('GET', key.owner)
if owner ~= owned .. ' ' .. args.userId and (owner or not args.isNew) then return {forgotten = false} end
local topic = 'booking:' .. args.bookingId
write('SET', key.owner, owned, 'EX', TOPIC_CLOSED_TTL_S)
expel(topic, args.userId)
if args.status then
  write('SET', key.state, encode({bookingId = args.number, shopId = args.shopId, status = args.status}),
    'EX', TOPIC_CLOSED_TTL_S)
  emit(topic, 'booking:status_change', {bookingId = args.number, status = args.status})
end
return {forgotten = true}
