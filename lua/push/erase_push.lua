-- @command  erase_push
-- @summary  Forget a user's devices, what the user wants to be pushed, and what waits to be.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @include  device
-- @include  version
-- @key      devices user:{userId}#devices
-- @key      version user:{userId}#version
-- @key      rules   user:{userId}#push_rules
-- @key      pushes  user:{userId}#pushes
-- @key      tries   user:{userId}#push_tries
-- @key      call    user:{userId}#push_call
-- @calls    free_token
-- @returns  {devices: int}
-- @errors   conflict
-- @cost     O(n) in the devices, at most 10
-- @weight   500
-- @idempotent

local count, version = 0, nil
for _, device in pairs(load_devices()) do
  if device.token then
    version = version or next_version(key.version, LATE_S)
    later('free_token', {tokenId = sha1(device.token), userId = args.userId, version = version})
    count = count + 1
  end
end
write('UNLINK', key.devices, key.rules, key.pushes, key.tries, key.call)
return {devices = count}
