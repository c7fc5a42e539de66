-- @command  roster
-- @summary  Who is present at a shop, for services and for those who are there themselves.
-- @http     GET /v1/shops/{shopId}/presence/users
-- @allow    user|service
-- @arg      shopId   id
-- @key      presence shop:{shopId}#presence
-- @returns  {shopId, count, users: [userId]} -- at most 1000 users, longest to stay first
-- @errors   forbidden
-- @cost     O(log n + m) in present users and those told, at most 1000
-- @weight   1500
-- @readonly

local TOLD_MAX = 1000

if caller.role ~= 'service' then
  local expiry = caller.user and tonumber(read('ZSCORE', key.presence, caller.user)) or 0
  if expiry <= now_ms then fail('forbidden', 'Only who is at the shop may see who else is') end
end
local now = '(' .. decimal(now_ms)
return {
  shopId = args.shopId, count = read('ZCOUNT', key.presence, now, '+inf'),
  users = array(read('ZREVRANGEBYSCORE', key.presence, '+inf', now, 'LIMIT', 0, TOLD_MAX)),
}
