-- @command  erase_push
-- @summary  Forget a user's devices, what the user wants to be pushed, and what waits to be.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @include  device
-- @key      devices user:{userId}#devices
-- @key      rules   user:{userId}#push_rules
-- @key      pushes  user:{userId}#pushes
-- @key      tries   user:{userId}#push_tries
-- @key      call    user:{userId}#push_call
-- @calls    free_token
-- @returns  {devices}
-- @errors   conflict
-- @cost     O(n) in the devices, at most 10
-- @weight   500
-- @idempotent

local count = 0
for _, device in pairs(load_devices()) do
  if device.token then
    later('free_token', {tokenId = sha1(device.token), userId = args.userId})
    count = count + 1
  end
end
write('UNLINK', key.devices, key.rules, key.pushes, key.tries, key.call)
return {devices = count}
