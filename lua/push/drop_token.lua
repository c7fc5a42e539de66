-- @command  drop_token
-- @summary  Take a device out of a user's devices whose token another registration has taken over.
-- @allow    worker
-- @arg      userId      id
-- @arg      deviceId    id
-- @arg      tokenId     id
-- @arg      at          int 0..9007199254740991 -- a version: the device stays when it was registered later
-- @include  device
-- @key      devices     user:{userId}#devices
-- @returns  {dropped: bool}
-- @cost     O(1)
-- @weight   150
-- @idempotent

local device = device_of(read('HGET', key.devices, args.deviceId))
if not device or sha1(device.token) ~= args.tokenId or device.version > args.at then return {dropped = false} end
write('HDEL', key.devices, args.deviceId)
return {dropped = true}
