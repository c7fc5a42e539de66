-- @command  move_booking
-- @summary  Move a booking to its next status; a user may only cancel an own one.
-- @http     POST /v1/shops/{shopId}/bookings/{bookingId}/move
-- @allow    user|service
-- @arg      shopId    id
-- @arg      bookingId id
-- @arg      status    enum pending,confirmed,in-progress,completed,cancelled,no-show
-- @arg      barberId  id optional -- who serves, with in-progress only
-- @arg      tier      enum standard,blackCard optional -- corrects it, with confirmed only
-- @arg      serviceMinutes number 1..480 optional -- corrects it, with confirmed only
-- @arg      userId    user optional -- whose move it is; without it, the shop's
-- @include  version
-- @include  booking
-- @include  told
-- @include  pending
-- @key      bookings  shop:{shopId}#bookings
-- @key      closed    shop:{shopId}#closed#{bookingId}
-- @key      pending   shop:{shopId}#pending
-- @key      service   shop:{shopId}#service
-- @key      texts     shop:{shopId}#texts
-- @key      version   shop:{shopId}#version
-- @calls    booking_changed, user_booking, user_pending
-- @emits    booking:status_change booking_change -- to the user, and on the booking's topics
-- @returns  {bookingId: string, shopId: string, status: status, estimatedCompletion?: string}
-- @errors   not_found, forbidden, conflict
-- @cost     O(1)
-- @weight   300
--
-- pending -> confirmed -> in-progress -> completed; pending or confirmed -> cancelled; confirmed -> no-show.
-- A closed booking leaves the hash of open ones and is kept for CLOSED_TTL_S. estimatedCompletion is told of a
-- booking in progress. A completed one teaches how long services of its tier take. To a user the booking of another
-- user is the same as none.

local STATED = 'stated'

local MOVES = {
  pending = {confirmed = true, cancelled = true},
  confirmed = {['in-progress'] = true, cancelled = true, ['no-show'] = true},
  ['in-progress'] = {completed = true},
  completed = {}, cancelled = {}, ['no-show'] = {},
}
-- Count, sum and sum of squares of what was learned of `subject`: the minutes of a tier's services, or (`stated`) the
-- ratio of true to stated minutes. Zeros when they are not what is written here.
local function learned(subject)
  local stored = read('HMGET', key.service, 'count:' .. subject, 'sum:' .. subject, 'squares:' .. subject)
  local count, sum, squares = integer(stored[1], 1, COUNT_MAX), number(stored[2]), number(stored[3])
  if not count or not sum or not squares then return 0, 0, 0 end
  local least = subject == STATED and RATIO_MIN or SERVICE_MINUTES_MIN
  if sum < count * least or sum > count * SERVICE_MINUTES_MAX or squares < 0 then return 0, 0, 0 end
  return count, sum, squares
end

-- The minutes a booking's service is expected to take.
local function expected(it)
  if it.serviceMinutes then return it.serviceMinutes end
  local fixed = number(read('HGET', key.service, 'averageMinutes'))
  if fixed and fixed >= SERVICE_MINUTES_MIN and fixed <= SERVICE_MINUTES_MAX then return fixed end
  local count, sum = learned(it.tier)
  return count > 0 and sum / count or SERVICE_MINUTES
end

local function note(subject, value)
  local count, sum, squares = learned(subject)
  if count >= COUNT_MAX then return end
  write('HSET', key.service, 'count:' .. subject, encode(count + 1), 'sum:' .. subject, encode(sum + value),
    'squares:' .. subject, encode(squares + value * value))
end

local function learn(it)
  local minutes = it.startedAt and (now_ms - it.startedAt) / MINUTE_MS
  if not minutes or minutes < SERVICE_MINUTES_MIN or minutes > SERVICE_MINUTES_MAX then return end
  note(it.tier, minutes)
  if it.serviceMinutes then note(STATED, math.max(RATIO_MIN, minutes / it.serviceMinutes)) end
end

local status = args.status
if args.userId and status ~= 'cancelled' then fail('forbidden', 'A user can only cancel a booking') end
if args.barberId and status ~= 'in-progress' then
  fail('bad_request', 'barberId belongs to the status in-progress only')
end
if (args.tier or args.serviceMinutes) and status ~= 'confirmed' then
  fail('bad_request', 'tier and serviceMinutes belong to the status confirmed only')
end

local it = booking(read('HGET', key.bookings, args.bookingId) or read('GET', key.closed))
if not it or args.userId and args.userId ~= it.userId then fail('not_found', 'The shop has no such booking') end
if not MOVES[it.status][status] then
  fail('conflict', 'a booking cannot move from ' .. it.status .. ' to ' .. status)
end

local completion
if status == 'in-progress' then
  completion = math.floor(now_ms + expected(it) * MINUTE_MS)
  it.startedAt, it.barberId = now_ms, args.barberId or it.barberId
end
if status == 'completed' then learn(it) end
if it.status == 'pending' then leave_pending(args.shopId, it.userId, args.bookingId) end
it.tier, it.serviceMinutes = args.tier or it.tier, args.serviceMinutes or it.serviceMinutes

-- Members that others added are not kept: what is stored is what is documented.
local text = encode({
  userId = it.userId, tier = it.tier, status = status, serviceMinutes = it.serviceMinutes, scheduledAt = it.scheduledAt,
  createdAt = it.createdAt, startedAt = it.startedAt, barberId = it.barberId, estimatedCompletion = completion,
})
if next(MOVES[status]) then
  write('HSET', key.bookings, args.bookingId, text)
else
  write('HDEL', key.bookings, args.bookingId)
  write('SET', key.closed, text, 'EX', CLOSED_TTL_S)
end

tell(args.shopId, args.bookingId, it.userId, status, status, completion)
return {
  bookingId = args.bookingId, shopId = args.shopId, status = status,
  estimatedCompletion = completion and iso(completion),
}
