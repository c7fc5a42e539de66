-- @command  push_settings
-- @summary  What a user wants to be pushed, and to which devices. Tokens are not told.
-- @http     GET /v1/users/{userId}/push
-- @allow    user|service
-- @arg      userId      user
-- @include  device
-- @include  rules
-- @key      rules       user:{userId}#push_rules
-- @key      devices     user:{userId}#devices
-- @returns  {types: words, quietFrom: string|null, quietTo: string|null, quietMode: 'hold'|'silent',
--           timezone: string|null, devices: [device]}
-- @errors   conflict
-- @cost     O(n) in the devices, at most 10, and the types, at most 50
-- @weight   500
-- @readonly

local told = told_rules()
told.devices = told_devices(load_devices())
return told
