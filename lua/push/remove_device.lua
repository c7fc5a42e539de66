-- @command  remove_device
-- @summary  Push no more to a device: at logout, and when its user does not want it any longer.
-- @http     DELETE /v1/users/{userId}/devices/{deviceId}
-- @allow    user|service
-- @arg      userId      user
-- @arg      deviceId    id
-- @include  device
-- @include  version
-- @key      devices     user:{userId}#devices
-- @key      version     user:{userId}#version
-- @calls    free_token
-- @returns  {deviceId: string, removed: bool}
-- @cost     O(1)
-- @weight   200
-- @rate     60/3600 s user
-- @idempotent

local text = read('HGET', key.devices, args.deviceId)
if not text then return {deviceId = args.deviceId, removed = false} end
local device = device_of(text)
write('HDEL', key.devices, args.deviceId)
if device then
  later('free_token', {
    tokenId = sha1(device.token), userId = args.userId, version = next_version(key.version),
  })
end
return {deviceId = args.deviceId, removed = true}
