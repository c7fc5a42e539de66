-- @command  erase_barbershop
-- @summary  Erase a user: notifications, followings, posts, and what shops, bookings and challenges keep.
-- @allow    worker
-- @erases
-- @arg      userId     user
-- @include  version
-- @key      inbox      user:{userId}#inbox
-- @key      unread     user:{userId}#unread
-- @key      follows    user:{userId}#follows
-- @key      places     user:{userId}#places
-- @key      online     user:{userId}#online
-- @key      pending    user:{userId}#pending
-- @key      visited    user:{userId}#visited
-- @key      bookings   user:{userId}#bookings
-- @key      challenges user:{userId}#challenges
-- @key      erased     user:{userId}#erased
-- @key      log        user:{userId}#log
-- @key      posts      feed:{userId}#log
-- @key      latest     feed:{userId}#latest
-- @topic    user:{userId}
-- @calls    erase_barbershop, forget_booking, forget_score, forget_visitor
-- @emits    presence:here {topic: string, here: bool} -- of each place where the user was
-- @emits    follows:changed {topic: string|null, following: bool} -- topic is null: the user follows nobody any more
-- @returns  {left: int} -- how many the longest of the lists still has
-- @cost     O(n) in the shops, bookings and challenges of one run, at most 92
-- @weight   2000
-- @idempotent
--
-- Each run takes NOTED_RUN_MAX of each list, calls their homes' scripts, and calls itself for the rest. The last one
-- forgets what is the user's own, and the posts where the user is a barber. Who follows the barber is the followers' to
-- say. Calls of shops and challenges from before the erasure may come later. The note `erased` has them taken back, for
-- an hour.

local NOTED_RUN_MAX = 20
local TOPIC = 'user:' .. args.userId

-- The first of a zset, which leave it for good.
local function take(name)
  local members = read('ZRANGE', name, 0, NOTED_RUN_MAX - 1)
  if #members > 0 then write('ZREM', name, unpack(members)) end
  return members
end

write('SET', key.erased, decimal(now_ms * 1000), 'EX', LATE_S)
local shops = {}
local function visit(shop)
  if shops[shop] or #shop > 200 or not string.find(shop, '^[%w._~:-]+$') then return end
  shops[shop] = true
  later('forget_visitor', {shopId = shop, userId = args.userId})
end

local longest = math.max(read('ZCARD', key.visited), read('ZCARD', key.bookings), read('ZCARD', key.challenges))
local left = longest - NOTED_RUN_MAX
for _, shop in ipairs(take(key.visited)) do visit(shop) end
for _, member in ipairs(take(key.bookings)) do
  local shop, number_of = string.match(member, '^([%w._~:-]+) ([%w._~:-]+)$')
  if shop then later('forget_booking', {shopId = shop, bookingId = number_of, userId = args.userId}) end
end
for _, challenge in ipairs(take(key.challenges)) do
  if #challenge <= 200 and string.find(challenge, '^[%w._~:-]+$') then
    later('forget_score', {challengeId = challenge, userId = args.userId})
  end
end
if left > 0 then
  later('erase_barbershop', {userId = args.userId})
  return {left = left}
end

for _, topic in ipairs(read('SRANDMEMBER', key.places, PLACES_MAX)) do
  local shop = string.match(topic, '^shop:(.+)$')
  if shop then visit(shop) end
  if is_utf8(topic) then tell_now(TOPIC, 'presence:here', {topic = topic, here = false}) end
end
if read('SCARD', key.follows) > 0 then tell_now(TOPIC, 'follows:changed', {topic = null, following = false}) end
write('UNLINK', key.inbox, key.unread, key.follows, key.places, key.online, key.pending, key.visited, key.bookings,
  key.challenges, key.log, key.posts, key.latest)
return {left = 0}
