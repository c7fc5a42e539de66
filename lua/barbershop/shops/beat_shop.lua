-- @command  beat_shop
-- @summary  Keep a user present at a shop, unless presence there has ended already.
-- @allow    worker
-- @arg      shopId   id
-- @arg      userId   id
-- @include  version
-- @key      presence shop:{shopId}#presence
-- @key      version   shop:{shopId}#version
-- @calls    user_place
-- @returns  {present: bool}
-- @cost     O(log n) in present users
-- @weight   100
-- @idempotent

local present = tonumber(read('ZSCORE', key.presence, args.userId) or 0) > now_ms
if present then
  write('ZADD', key.presence, 'GT', decimal(now_ms + PRESENCE_MS), args.userId)
else
  later('user_place', {
    userId = args.userId, topic = 'shop:' .. args.shopId, here = false, version = next_version(key.version),
  })
end
return {present = present}
