-- @summary  Read which tokens were revoked and which members were taken out since a gateway last asked.
-- @key      revoked  #revoked
-- @key      before   #revoked-before
-- @key      removed  #removed
-- @returns  {top, [subject, place, before_s, ...], [entry, place, ...]}: the newest revocation's place, 0 without any;
--           a page of revocations, before_s empty for a token; a page of removals "<topic> <user>"; oldest first,
--           places in decimal text
-- @errors   BADARG, BADKEY
-- @cost     O(log n + k) in the k changes returned, at most twice limit
-- @weight   2000
--
-- KEYS[1]   revoked        zset of revoke.lua
-- KEYS[2]   before         hash of revoke.lua
-- KEYS[3]   removed        zset of set_member.lua
-- ARGV[1]   revoked_after  the place of the last revocation read, 0 for none
-- ARGV[2]   removed_after  the place of the last removal read, 0 for none
-- ARGV[3]   limit          changes of a page, 1...1000
--
-- Writes nothing. Where every removal noted is earlier than the last one read, the clock or the data went back. Then
-- all of them are read, and the caller sees it by their places.

if #KEYS ~= 3 or #ARGV ~= 3 then return refuse('BADARG', 'rights_changes takes 3 keys and 3 arguments') end
local revoked_after = integer(ARGV[1], 0, INTEGER_MAX)
local removed_after = integer(ARGV[2], 0, INTEGER_MAX)
local limit = integer(ARGV[3], 1, 1000)
if not revoked_after then return refuse('BADARG', 'revoked_after is not a number in range') end
if not removed_after then return refuse('BADARG', 'removed_after is not a number in range') end
if not limit then return refuse('BADARG', 'limit is not a number in range') end

local function page(key, name, after)
  local got = redis.pcall('ZRANGEBYSCORE', key, '(' .. decimal(after), '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
  if failed(got) then return nil, bad_key(name, got) end
  return got
end

local top = redis.pcall('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if failed(top) then return bad_key('revoked', top) end
local revoked, wrong = page(KEYS[1], 'revoked', revoked_after)
if not revoked then return wrong end
local last = redis.pcall('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if failed(last) then return bad_key('removed', last) end
if last[2] and tonumber(last[2]) < removed_after then removed_after = 0 end
local removed
removed, wrong = page(KEYS[3], 'removed', removed_after)
if not removed then return wrong end
local revocations = {}
for index = 1, #revoked, 2 do
  local before = redis.pcall('HGET', KEYS[2], revoked[index])
  if failed(before) then return bad_key('before', before) end
  revocations[#revocations + 1] = revoked[index]
  revocations[#revocations + 1] = revoked[index + 1]
  revocations[#revocations + 1] = before or ''
end
return {top[2] or '0', revocations, removed}
