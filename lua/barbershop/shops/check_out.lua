-- @command  check_out
-- @summary  Say that a user has left a shop.
-- @http     DELETE /v1/shops/{shopId}/presence
-- @allow    user|service
-- @arg      shopId   id
-- @arg      userId   user -- who has left
-- @include  version
-- @key      presence shop:{shopId}#presence
-- @key      told     shop:{shopId}#present
-- @key      version  shop:{shopId}#version
-- @topic    shop:{shopId}
-- @calls    user_place
-- @emits    presence:update {shopId: string, count: int} -- when the number of present users is another than last told
-- @returns  {shopId: string, present: bool, count: int}
-- @cost     O(log n) in present users
-- @weight   250
--
-- Who is not there may say so too: that changes nothing.

local user = args.userId
local expiry = tonumber(read('ZSCORE', key.presence, user))
local count = read('ZCOUNT', key.presence, '(' .. decimal(now_ms), '+inf')
if expiry then
  if expiry > now_ms then count = count - 1 end
  write('ZREM', key.presence, user)
  later('user_place', {
    userId = user, topic = 'shop:' .. args.shopId, here = false, version = next_version(key.version),
  })
end
if count ~= (integer(read('GET', key.told), 0, INTEGER_MAX) or 0) then
  if count > 0 then write('SET', key.told, decimal(count)) else write('DEL', key.told) end
  emit('shop:' .. args.shopId, 'presence:update', {shopId = args.shopId, count = count})
end
return {shopId = args.shopId, present = false, count = count}
