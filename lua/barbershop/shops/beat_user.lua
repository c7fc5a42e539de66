-- @command   beat_user
-- @summary   A user has a live connection: online, and still wherever checked in.
-- @allow     worker
-- @heartbeat 20 s
-- @arg       userId id
-- @key       online user:{userId}#online
-- @key       places user:{userId}#places
-- @calls     beat_shop
-- @returns   {places: int} -- how many places the heartbeat goes to
-- @cost      O(n) in the user's places, at most 32
-- @weight    500
--
-- Every gateway that has a session of the user beats. A beat within BEAT_LEAST_MS of another changes nothing.

local ONLINE_TTL_S = 60 -- three heartbeats
local SHOP_ID_BYTES_MAX = 200

local last = integer(read('GET', key.online), 0, INTEGER_MAX)
if last and last <= now_ms and now_ms - last < BEAT_LEAST_MS then return {places = 0} end

local count = 0
write('SET', key.online, decimal(now_ms), 'EX', ONLINE_TTL_S)
for _, topic in ipairs(read('SRANDMEMBER', key.places, PLACES_MAX)) do -- all, unless others put more into it
  local shop = string.match(topic, '^shop:([A-Za-z0-9._~:-]+)$')
  if shop and #shop <= SHOP_ID_BYTES_MAX then
    later('beat_shop', {shopId = shop, userId = args.userId})
    count = count + 1
  end
end
if count > 0 then write('EXPIRE', key.places, PLACES_TTL_S) end
return {places = count}
