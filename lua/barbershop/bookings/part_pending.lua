-- @part     pending
-- @summary  Which bookings a shop's users have asked for by themselves and still wait for.
--
-- For scripts that include `booking` and `told`, and have the keys bookings, pending and version.
-- shop:S#pending is a hash: userId -> the ids of the user's pending bookings, parted by spaces. What a backend did to
-- the bookings meanwhile is found when the list is read.

local PENDING_USER_MAX = 3   -- of one user at one shop
local PENDING_USERS_MAX = 200 -- users with pending bookings at one shop
local PENDING_TTL_S = 2678400 -- 31 days: longer than a booking can be pending

-- The ids of a user's bookings that are pending in truth, without `except`.
local function pending_of(user, except)
  local ids = {}
  for id in string.gmatch(read('HGET', key.pending, user) or '', '[^ ]+') do
    if #ids == PENDING_USER_MAX then break end
    local it = id ~= except and booking(read('HGET', key.bookings, id))
    if it and it.userId == user and it.status == 'pending' then ids[#ids + 1] = id end
  end
  return ids
end

local function store_pending(user, ids)
  if #ids > 0 then
    write('HSET', key.pending, user, table.concat(ids, ' '))
    write('EXPIRE', key.pending, PENDING_TTL_S)
  else
    write('HDEL', key.pending, user)
  end
end

-- A pending booking moves on. For scripts with `@calls user_pending`.
local function leave_pending(shop, user, id)
  local listed = ' ' .. (read('HGET', key.pending, user) or '') .. ' '
  if not string.find(listed, ' ' .. id .. ' ', 1, true) then return end
  store_pending(user, pending_of(user, id))
  later('user_pending', {userId = user, shopId = shop, bookingId = id, version = booking_version()})
end
