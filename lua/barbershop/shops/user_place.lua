-- @command  user_place
-- @summary  Note that a user is or is no more at a place, and tell all the user's devices.
-- @allow    worker
-- @arg      userId id
-- @arg      topic  string 6..205 -- of the place: shop:ID
-- @arg      here   bool
-- @arg      version int 0..9007199254740991 optional -- of the shop, when it said so
-- @include  version
-- @include  shop_blocks
-- @key      places  user:{userId}#places
-- @key      visited user:{userId}#visited
-- @key      at      user:{userId}#places_at
-- @key      erased  user:{userId}#erased
-- @key      blocks  user:{userId}#blocks
-- @key      version user:{userId}#version
-- @topic    user:{userId}
-- @calls    forget_visitor, shop_blocks
-- @emits    presence:here {topic: string, here: bool} -- when it was otherwise before
-- @returns  {topic: string, here: bool}
-- @cost     O(log n) in the shops visited lately, at most 200, and O(m) in the user's blocks, at most 240
-- @weight   500
--
-- The places are where the user's heartbeats go (beat_user.lua). They are kept for PLACES_TTL_S after the last. Whoever
-- is at PLACES_MAX places already gets no further one here; presence there then ends without heartbeats.
--
-- `visited` is a zset shop -> when it may be forgotten, ms: the shops that may hold something of the user, for who
-- erases it (erase_barbershop.lua). Votes need presence, and end with their session within VISIT_MS after it.
--
-- The shop is told whom the user blocks, for as long as the user is there (shop_blocks.lua).
--
-- Calls come in any order: `places_at` has the version of each shop's last word, for an hour. A word from before the
-- user's erasure has the shop forget the user.

local VISIT_MS = 180000000 -- 50 h: a session and its ballots (add_track.lua)
local STAY_MS = 2592000000 -- 30 days: nobody stays longer
local VISITED_MAX = 200    -- what others hold ends by itself

local topic = args.topic
if not string.find(topic, '^shop:[A-Za-z0-9._~:-]+$') then fail('bad_request', 'topic is not shop:ID') end
if args.version and args.version <= (integer(read('GET', key.erased), 0, INTEGER_MAX) or 0) then
  later('forget_visitor', {shopId = string.sub(topic, 6), userId = args.userId})
  return {topic = topic, here = false}
end
local was = read('SISMEMBER', key.places, topic) == 1
if not is_newer(key.at, topic, args.version) then return {topic = topic, here = was} end
write('ZREMRANGEBYSCORE', key.visited, '-inf', decimal(now_ms))
write('ZADD', key.visited, decimal(now_ms + (args.here and STAY_MS or VISIT_MS)), string.sub(topic, 6))
write('ZREMRANGEBYRANK', key.visited, 0, -1 - VISITED_MAX)
write('PEXPIRE', key.visited, STAY_MS)
tell_blocks({string.sub(topic, 6)}, args.here)
if args.here and not was and read('SCARD', key.places) >= PLACES_MAX then return {topic = topic, here = false} end
if args.here then
  write('SADD', key.places, topic)
  write('EXPIRE', key.places, PLACES_TTL_S)
elseif was then
  write('SREM', key.places, topic)
end
if args.here ~= was then emit('user:' .. args.userId, 'presence:here', {topic = topic, here = args.here}) end
return {topic = topic, here = args.here}
