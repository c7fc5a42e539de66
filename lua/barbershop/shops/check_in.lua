-- @command  check_in
-- @summary  Say that a user is at a shop: by the shop's code, by a location near it, or by a service's word.
-- @http     POST /v1/shops/{shopId}/presence
-- @allow    user|service
-- @arg      shopId   id
-- @arg      userId   user -- who is there
-- @arg      code     string 1..64 optional -- what check_in_code answers, shown at the shop
-- @arg      location json 500 4 optional -- {latitude, longitude} in degrees; where the shop takes one
-- @include  code
-- @include  version
-- @key      presence shop:{shopId}#presence
-- @key      settings shop:{shopId}#settings
-- @key      told     shop:{shopId}#present
-- @key      version  shop:{shopId}#version
-- @topic    shop:{shopId}
-- @calls    user_place
-- @emits    presence:update {shopId: string, count: int} -- when the number of present users is another than last told
-- @returns  {shopId: string, present: bool, count: int, until: string}
-- @errors   bad_code 403, too_far 403, not_allowed 403, conflict
-- @cost     O(log n) in present users
-- @weight   250
--
-- Presence ends PRESENCE_MS after the last check-in or heartbeat (beat_shop.lua), not with a connection: who loses
-- it and is back in time was never away for others. A user who is present may renew without code or location. A shop
-- may insist on the code (set_shop.lua): a location is what the phone says.

local PRESENT_MAX = 10000
local RADIUS_METRES = 150 -- of a shop that has set none
local EARTH_METRES = 6371008.8

-- Whether two texts are the same, found without stopping at the first difference.
local function same(one, other)
  if #one ~= #other then return false end
  local different = 0
  for place = 1, #one do
    different = bit.bor(different, bit.bxor(string.byte(one, place), string.byte(other, place)))
  end
  return different == 0
end

-- Metres between two places given in degrees, on a sphere (haversine).
local function distance(latitude, longitude, other_latitude, other_longitude)
  local north = math.sin(math.rad(other_latitude - latitude) / 2)
  local east = math.sin(math.rad(other_longitude - longitude) / 2)
  local half = north * north + math.cos(math.rad(latitude)) * math.cos(math.rad(other_latitude)) * east * east
  return 2 * EARTH_METRES * math.asin(math.min(1, math.sqrt(half)))
end

local function check_code(code, secret)
  local good = false
  if secret and #secret >= 32 and #secret <= 64 then
    local window = math.floor(now_ms / CODE_WINDOW_MS)
    for age = 0, 1 do
      if same(string.sub(hmac(secret, decimal(window - age)), 1, 16), string.lower(code)) then good = true end
    end
  end
  if not good then fail('bad_code', 'The code is not the one shown at the shop') end
end

local function check_location(text, settings)
  local here = decode(text)
  local latitude = type(here) == 'table' and here.latitude
  local longitude = type(here) == 'table' and here.longitude
  if type(latitude) ~= 'number' or type(longitude) ~= 'number'
    or not (math.abs(latitude) <= 90 and math.abs(longitude) <= 180) then
    fail('bad_request', 'location must be {latitude, longitude} in degrees')
  end
  local shop_latitude, shop_longitude = number(settings[1]), number(settings[2])
  if not (shop_latitude and shop_longitude) then
    fail('not_allowed', 'The shop has no location set; check in with its code')
  end
  if distance(latitude, longitude, shop_latitude, shop_longitude) > (number(settings[3]) or RADIUS_METRES) then
    fail('too_far', 'The location is too far from the shop')
  end
end

local user = args.userId
local present = tonumber(read('ZSCORE', key.presence, user) or 0) > now_ms
if not present and caller.role ~= 'service' then
  local settings = read('HMGET', key.settings, 'latitude', 'longitude', 'radiusMetres', 'codeSecret', 'codeOnly')
  if args.code then
    check_code(args.code, settings[4])
  elseif settings[5] == '1' then
    fail('not_allowed', 'Check in with the code shown at the shop')
  elseif args.location then
    check_location(args.location, settings)
  else
    fail('not_allowed', 'Give the code shown at the shop, or a location')
  end
end

local count = read('ZCOUNT', key.presence, '(' .. decimal(now_ms), '+inf')
if not present then
  if read('ZCARD', key.presence) >= PRESENT_MAX then
    fail('conflict', 'The shop is full: at most ' .. PRESENT_MAX .. ' users can be present')
  end
  count = count + 1
  later('user_place', {
    userId = user, topic = 'shop:' .. args.shopId, here = true, version = next_version(key.version),
  })
end
local expiry = now_ms + PRESENCE_MS
write('ZADD', key.presence, 'GT', decimal(expiry), user)
if count ~= (integer(read('GET', key.told), 0, INTEGER_MAX) or 0) then
  write('SET', key.told, decimal(count))
  emit('shop:' .. args.shopId, 'presence:update', {shopId = args.shopId, count = count})
end
return {shopId = args.shopId, present = true, count = count, ['until'] = iso(expiry)}
