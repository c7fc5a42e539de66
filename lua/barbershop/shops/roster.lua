-- @command  roster
-- @summary  Who is present at a shop, for services and for those who are there themselves.
-- @http     GET /v1/shops/{shopId}/presence/users
-- @allow    user|service
-- @arg      shopId   id
-- @arg      from     int 0..1000000 = 0 -- how many users of the list to leave out
-- @include  apart
-- @key      presence shop:{shopId}#presence
-- @key      apart    shop:{shopId}#apart
-- @returns  {shopId: string, count: int, users: [string],
--           next: int|null} -- longest to stay first; next is null behind the last page
-- @errors   forbidden
-- @cost     O(log n + m) in present users and those told, at most 500
-- @weight   1600
-- @readonly
--
-- A user is not shown whom the user blocks, nor who blocks the user; `count` and `next` count everybody. A page ends
-- at PAGE_MAX users or PAGE_BYTES_MAX of them; `next` is what to ask for as `from`.

local PAGE_MAX = 500
local PAGE_BYTES_MAX = 24576

if caller.role ~= 'service' then
  local expiry = caller.user and tonumber(read('ZSCORE', key.presence, caller.user)) or 0
  if expiry <= now_ms then fail('forbidden', 'Only who is at the shop may see who else is') end
end
local now = '(' .. decimal(now_ms)
local count = read('ZCOUNT', key.presence, now, '+inf')
local found, bytes = {}, 0
for _, user in ipairs(read('ZREVRANGEBYSCORE', key.presence, '+inf', now, 'LIMIT', args.from, PAGE_MAX)) do
  bytes = bytes + #user
  if bytes > PAGE_BYTES_MAX and #found > 0 then break end
  found[#found + 1] = user
end
local hidden, users, looked = hidden_from(caller.user, found), {}, #found
for _, user in ipairs(found) do
  if not hidden[user] then users[#users + 1] = is_utf8(user) and user or '?' end -- of others
end
return {
  shopId = args.shopId, count = count, users = #users > 0 and raw(cjson.encode(users)) or array(),
  next = looked > 0 and args.from + looked < count and args.from + looked or null,
}
