-- @command  booking_changed
-- @summary  Note and tell a booking's new status on one of its topics, and admit its user to it.
-- @allow    worker
-- @arg      bookingId           id -- the topic's id
-- @arg      number              id optional -- the booking's id in its shop, where the topic's is another
-- @arg      shopId              id
-- @arg      userId              id
-- @arg      status              enum pending,confirmed,in-progress,completed,cancelled,no-show
-- @arg      estimatedCompletion time optional
-- @arg      scheduledAt         time optional -- the time that the booking is for
-- @include  booking
-- @key      owner               booking:{bookingId}#owner
-- @key      state               booking:{bookingId}#state
-- @key      members             booking:{bookingId}#members
-- @topic    booking:{bookingId}
-- @emits    booking:status_change booking_change
-- @returns  {refused: bool} -- whether the topic is another booking's
-- @cost     O(1)
-- @weight   200
--
-- The shop's script decides (create_booking.lua, move_booking.lua, end_booking.lua); this one tells. Calls come in any
-- order: a status of a lower rank than the one that stands (part_booking.lua) is over and changes nothing.
--
-- Shops number their bookings as they like, so two of them may write to one topic. The topic belongs
-- to the booking and the user that wrote it first (`owner`: `SHOP NUMBER USER`). A call for any other changes nothing:
-- its user is not admitted and nobody is told. A topic without an owner may be older than owners are: its state then
-- tells whose it is.

local OPEN_TTL_S = 7776000  -- 90 days since the last change
local STATE_BYTES_MAX = 4096
local ENDS = {completed = true, cancelled = true, ['no-show'] = true}

local number_told = args.number or args.bookingId
local writer = args.shopId .. ' ' .. number_told .. ' ' .. args.userId

-- Whether the topic is the writer's, or nobody's yet.
local function is_mine()
  local owner = read('GET', key.owner)
  if owner then return owner == writer end
  local text = read('GET', key.state)
  if not text then return true end
  local state = #text <= STATE_BYTES_MAX and decode(text)
  return type(state) == 'table' and state.shopId == args.shopId
    and read('SISMEMBER', key.members, args.userId) == 1
end

if not is_mine() then return {refused = true} end
local text = read('GET', key.state)
local known = text and #text <= STATE_BYTES_MAX and decode(text)
if type(known) == 'table' and (RANKS[known.status] or 0) > RANKS[args.status] then return {refused = false} end

local completion = args.estimatedCompletion and iso(args.estimatedCompletion)
local ttl_s = ENDS[args.status] and TOPIC_CLOSED_TTL_S or OPEN_TTL_S
write('SET', key.owner, writer, 'EX', ttl_s)
write('SET', key.state, encode({
  bookingId = number_told, shopId = args.shopId, status = args.status, estimatedCompletion = completion,
  scheduledAt = args.scheduledAt and iso(args.scheduledAt),
}), 'EX', ttl_s)
write('SADD', key.members, args.userId)
write('EXPIRE', key.members, ttl_s)
emit('booking:' .. args.bookingId, 'booking:status_change', {
  bookingId = number_told, status = args.status, estimatedCompletion = completion,
  scheduledAt = args.scheduledAt and iso(args.scheduledAt),
})
return {refused = false}
