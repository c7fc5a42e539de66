-- @part     device
-- @summary  What a device is in Redis, and how tokens are released. Needs the key `devices`.
-- @type     device {deviceId: string, platform: string, environment: string, timezone: string|null,
--            registeredAt: string, tokenEnd: string}
--
-- Keys of the user U:
--   user:U#devices     hash deviceId -> JSON {k: token, p: platform, e: environment, z: time zone or nil, r: ms of the
--                      registration, v: its version (part_version.lua)}; ends a year after the last registration
--   user:U#push_rules  string, JSON {types: {TYPE: WORD}, from, to: minutes of the day, mode, z: time zone}
--   user:U#pushes      zset of what waits (part_pushes.lua)
--   user:U#push_tries  hash of the same members -> JSON {n: how often not every device could be reached, d: those that
--                      have it}
--   user:U#push_call   string, the name of the call on its way, or `rest` for a while after one
-- Keys of a token: token:SHA1#owner, string `USER DEVICE VERSION`, who registered it last, with ` -` behind it when
-- that user has it no more; token:SHA1#freed, zset userId -> the version at which the user had it no more, for an hour.
-- No key's name has a token in it.

local DEVICES_MAX = 10
local DEVICES_TTL_S = 31622400
local TOKEN_BYTES_MAX = 200

-- A device as stored: {token, platform, environment, zone, at}; nil for what is none.
local function device_of(text)
  local value = decode(text)
  if type(value) ~= 'table' or type(value.k) ~= 'string' or type(value.r) ~= 'number' then return nil end
  if #value.k > TOKEN_BYTES_MAX or not string.find(value.k, '^%x+$') then return nil end
  if type(value.p) ~= 'string' or type(value.e) ~= 'string' then return nil end
  if value.r ~= math.floor(value.r) or value.r < 0 or value.r > YEAR_9999_MS then return nil end
  local zone = type(value.z) == 'string' and value.z or nil
  return {token = value.k, platform = value.p, environment = value.e, zone = zone, at = value.r,
    version = type(value.v) == 'number' and value.v >= 0 and value.v <= INTEGER_MAX and value.v or value.r}
end

-- Every device of the user, by id. What is none counts as registered at no time.
local function load_devices()
  local devices = {}
  if read('HLEN', key.devices) > 4 * DEVICES_MAX then fail('conflict', 'The key of devices holds too many') end
  local found = read('HGETALL', key.devices)
  for index = 1, #found, 2 do devices[found[index]] = device_of(found[index + 1]) or {at = -1} end
  return devices
end

-- A device as it is told: never with its token, by which others could take its pushes away.
local function told_device(id, device)
  return {
    deviceId = id, platform = device.platform, environment = device.environment, timezone = device.zone or null,
    registeredAt = iso(device.at), tokenEnd = string.sub(device.token, -6),
  }
end

-- The devices in the order of their ids, as they are told.
local function told_devices(devices)
  local ids, told = {}, array()
  for id, device in pairs(devices) do
    if device.token and is_utf8(id) then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for index, id in ipairs(ids) do told[index] = told_device(id, devices[id]) end
  return told
end

-- Whether a text may name a time zone: `Europe/Berlin`. It never holds a dot, since it becomes a path.
local function is_zone(text)
  return #text <= 64 and string.find(text, '^%a[%w_+-]*$') ~= nil
    or #text <= 64 and string.find(text, '^%a[%w_+-]*/[%w_+-]+$') ~= nil
    or #text <= 64 and string.find(text, '^%a[%w_+-]*/[%w_+-]+/[%w_+-]+$') ~= nil
end
