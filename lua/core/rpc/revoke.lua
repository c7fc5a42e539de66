-- @summary  Remember that tokens of a user, or one token, are refused from now on.
-- @key      revoked  #revoked
-- @key      before   #revoked-before
-- @returns  {at, before}: the change's place among all, and the time up to which a user's tokens are refused, seconds
--           (0 for one token), decimal text; an empty list when there is no room for another
-- @errors   BADARG, BADKEY
-- @cost     O(log n) in the revocations remembered
-- @weight   500
--
-- KEYS[1]   revoked   zset: "u:<user>" or "t:<token id>" -> place: ms since 1970, and more than every other's
-- KEYS[2]   before    hash: "u:<user>" -> seconds since 1970 up to which the user's tokens are refused
-- ARGV[1]   subject   "u:<user>" or "t:<token id>", 3...258 bytes
-- ARGV[2]   before_s  for a user: tokens issued until then are refused; 0 for one token
-- ARGV[3]   keep_s    how long it is remembered: at least the longest life of a token, 60...31622400
-- ARGV[4]   max       revocations remembered at once, 1...10000000
--
-- A place is a time that never goes back, so that who has read up to one place reads on from there. Revoking again
-- takes a new place and never an earlier time. What is older than keep_s is forgotten, a few at each call.
-- Time is Redis's own: a gateway whose clock is wrong must not make the others forget.

local FORGET_MAX = 100

if #KEYS ~= 2 or #ARGV ~= 4 then return refuse('BADARG', 'revoke takes 2 keys and 4 arguments') end
local subject = ARGV[1]
local before_s = integer(ARGV[2], 0, INTEGER_MAX)
local keep_s = integer(ARGV[3], 60, 31622400)
local max = integer(ARGV[4], 1, 10000000)
if #subject < 3 or #subject > 258 or not string.find(subject, '^[ut]:') then
  return refuse('BADARG', 'subject is neither a user nor a token')
end
if not before_s then return refuse('BADARG', 'before_s is not a number in range') end
if not keep_s then return refuse('BADARG', 'keep_s is not a number in range') end
if not max then return refuse('BADARG', 'max is not a number in range') end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = redis.pcall('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if failed(last) then return bad_key('revoked', last) end
local earlier = redis.pcall('HGET', KEYS[2], subject)
if failed(earlier) then return bad_key('before', earlier) end
before_s = math.max(before_s, integer(earlier, 0, INTEGER_MAX) or 0)
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', decimal(now_ms - keep_s * 1000), 'LIMIT', 0, FORGET_MAX)
if not redis.call('ZSCORE', KEYS[1], subject) and redis.call('ZCARD', KEYS[1]) - #old >= max then return {} end

local place = now_ms
if last[2] then place = math.max(place, tonumber(last[2]) + 1) end
-- First what Redis refuses whole when it may not write.
local added = redis.pcall('ZADD', KEYS[1], decimal(place), subject)
if failed(added) then return added end
if before_s > 0 then redis.call('HSET', KEYS[2], subject, decimal(before_s)) end
for _, name in ipairs(old) do
  if name ~= subject then
    redis.call('ZREM', KEYS[1], name)
    redis.call('HDEL', KEYS[2], name)
  end
end
redis.call('EXPIRE', KEYS[1], keep_s + 3600)
redis.call('EXPIRE', KEYS[2], keep_s + 3600)
return {decimal(place), decimal(before_s)}
