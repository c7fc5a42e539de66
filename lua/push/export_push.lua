-- @command  export_push
-- @summary  A user's devices and what the user wants to be pushed, for the user's copy of all data.
-- @allow    worker
-- @exports
-- @arg      userId  user
-- @include  device
-- @include  rules
-- @key      devices user:{userId}#devices
-- @key      rules   user:{userId}#push_rules
-- @key      pushes  user:{userId}#pushes
-- @returns  {types: words, quietFrom: string|null, quietTo: string|null, quietMode: 'hold'|'silent',
--           timezone: string|null, devices: [device], waiting: int}
-- @errors   conflict
-- @cost     O(n) in the devices, at most 10, and the types, at most 50
-- @weight   500
-- @readonly
--
-- Tokens are told by their last characters only: who has a token can take the device's pushes away.

local told = told_rules()
told.devices, told.waiting = told_devices(load_devices()), read('ZCARD', key.pushes)
return told
