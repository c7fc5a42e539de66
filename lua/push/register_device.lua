-- @command  register_device
-- @summary  Have a user's notifications pushed to a device while the user is away. Apps register at each start.
-- @http     PUT /v1/users/{userId}/devices/{deviceId}
-- @allow    user|service
-- @arg      userId      user
-- @arg      deviceId    id -- the app's own name for the device, at most 64 characters
-- @arg      deviceToken string 32..200 as token -- what APNs gave to the app, in hexadecimal
-- @arg      platform    enum ios,ipados,macos,tvos,visionos,watchos = ios
-- @arg      environment enum production,sandbox = production -- sandbox for builds that Xcode installs
-- @arg      timezone    string 1..64 optional -- such as Europe/Berlin
-- @include  device
-- @include  version
-- @key      devices     user:{userId}#devices
-- @key      version     user:{userId}#version
-- @key      rules       user:{userId}#push_rules
-- @calls    claim_token, free_token
-- @returns  {deviceId: string, devices: int} -- how many devices the user has
-- @errors   conflict
-- @cost     O(n) in the user's devices, at most 10
-- @weight   400
-- @rate     20/3600 s user
-- @idempotent
--
-- A user has at most DEVICES_MAX devices; with one more the one that was registered longest ago leaves. Who registers a
-- token that another user has takes it over, since whoever holds the phone now may not read the other's news.

local token = string.lower(args.deviceToken)
if not string.find(token, '^%x+$') then fail('bad_request', 'token must be hexadecimal') end
if #args.deviceId > 64 then fail('bad_request', 'deviceId may have 64 characters') end
if args.timezone and not is_zone(args.timezone) then fail('bad_request', 'timezone is no name of a time zone') end

local devices, count = load_devices(), 0
local version = next_version(key.version)
local function leave(id, device)
  write('HDEL', key.devices, id)
  if device.token and device.token ~= token then
    later('free_token', {tokenId = sha1(device.token), userId = args.userId, version = version})
  end
end
local before = devices[args.deviceId]
if before and before.token and before.token ~= token then
  later('free_token', {tokenId = sha1(before.token), userId = args.userId, version = version})
end
devices[args.deviceId] = nil
local left = {}
for id, device in pairs(devices) do
  -- An app that was installed anew has another name for the device, and perhaps the same token.
  if device.token == token or device.at < 0 then leave(id, device) else left[#left + 1] = id end
end
table.sort(left, function(one, other)
  if devices[one].at ~= devices[other].at then return devices[one].at < devices[other].at end
  return one < other
end)
for place = 1, #left - DEVICES_MAX + 1 do leave(left[place], devices[left[place]]) end
count = math.min(#left, DEVICES_MAX - 1) + 1

write('HSET', key.devices, args.deviceId, encode({
  k = token, p = args.platform, e = args.environment, z = args.timezone, r = now_ms,
  v = version,
}))
write('EXPIRE', key.devices, DEVICES_TTL_S)
-- What the user wants lives as long as the devices.
write('EXPIRE', key.rules, DEVICES_TTL_S)
later('claim_token', {tokenId = sha1(token), userId = args.userId, deviceId = args.deviceId, at = version})
return {deviceId = args.deviceId, devices = count}
