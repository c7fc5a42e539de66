-- @summary  End the presence of those whose time is over, and tell how many are left.
-- @refresh  shop:{shopId}#presence
-- @arg      shopId   id
-- @coalesce 1000 ms
-- @include  version
-- @key      presence shop:{shopId}#presence
-- @key      told     shop:{shopId}#present
-- @key      version  shop:{shopId}#version
-- @topic    shop:{shopId}
-- @calls    user_place
-- @emits    presence:update {shopId: string, count: int} -- when the number of present users is another than last told
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(log n) in present users, and O(m) in those who go, at most 100 in one run
-- @weight   2000
--
-- Heartbeats change the key all the time, hence the long coalescing; who comes and who leaves is told at once by
-- check_in.lua and check_out.lua. The count is right from the first run: what is pruned later is not counted.

local BATCH_MAX = 100

local gone = read('ZRANGEBYSCORE', key.presence, '-inf', decimal(now_ms), 'LIMIT', 0, BATCH_MAX)
local after = '(' .. decimal(now_ms)
local count = read('ZCOUNT', key.presence, after, '+inf')
local next_gone = read('ZRANGEBYSCORE', key.presence, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)

if #gone > 0 then write('ZREM', key.presence, unpack(gone)) end
local version = #gone > 0 and next_version(key.version)
for _, user in ipairs(gone) do
  if #user <= USER_BYTES_MAX and string.find(user, '^[A-Za-z0-9._~:-]+$') then
    later('user_place', {userId = user, topic = 'shop:' .. args.shopId, here = false, version = version})
  end
end
if count ~= (integer(read('GET', key.told), 0, INTEGER_MAX) or 0) then
  if count > 0 then write('SET', key.told, decimal(count)) else write('DEL', key.told) end
  emit('shop:' .. args.shopId, 'presence:update', {shopId = args.shopId, count = count})
end

if #gone == BATCH_MAX then return {idle = false, again_ms = now_ms} end
if count == 0 then return {idle = true} end
-- An expiry beyond what this system writes is looked at again, as others may write it.
return {idle = false, again_ms = math.ceil(math.min(tonumber(next_gone[2]), now_ms + PRESENCE_MS))}
