-- @summary  Keep the answer of a service outside for all who ask the same, and drop what is over.
-- @key      answers  #answers:SERVICE
-- @key      due      #answers-due:SERVICE
-- @returns  how many are kept
-- @errors   BADARG, BADKEY
-- @cost     O(log N) in answers kept
-- @weight   250
--
-- KEYS[1]   answers      hash: digest -> "<ms since 1970 until which it is good> <answer>"
-- KEYS[2]   due          zset: digest by that time
-- ARGV[1]   digest       1...64 bytes
-- ARGV[2]   answer       one JSON object
-- ARGV[3]   seconds      how long it is good, 1...3600
-- ARGV[4]   answers_max  how many are kept, 1...100000; beyond: those that are over first are dropped
--
-- The time is Redis's own: answers are kept by one gateway and found by another.

local DROPPED_MAX = 10 -- answers dropped in one run; one comes with each

if #KEYS ~= 2 or #ARGV ~= 4 then return refuse('BADARG', 'keep_answer takes 2 keys and 4 arguments') end
local seconds, answers_max = integer(ARGV[3], 1, 3600), integer(ARGV[4], 1, 100000)
if not seconds or not answers_max then return refuse('BADARG', 'seconds or answers_max is not a number in range') end
local count = redis.pcall('ZCARD', KEYS[2])
if failed(count) then return bad_key('due', count) end
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local good = decimal(now_ms + seconds * 1000)
local set = redis.pcall('HSET', KEYS[1], ARGV[1], good .. ' ' .. ARGV[2])
if failed(set) then return bad_key('answers', set) end
redis.call('ZADD', KEYS[2], good, ARGV[1])
local over = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', decimal(now_ms), 'LIMIT', 0, DROPPED_MAX)
local excess = math.min(redis.call('ZCARD', KEYS[2]) - #over - answers_max, DROPPED_MAX)
if excess > 0 then over = redis.call('ZRANGE', KEYS[2], 0, #over + excess - 1) end
if #over > 0 then
  redis.call('HDEL', KEYS[1], unpack(over))
  redis.call('ZREM', KEYS[2], unpack(over))
end
redis.call('EXPIRE', KEYS[1], 7200)
redis.call('EXPIRE', KEYS[2], 7200)
return redis.call('ZCARD', KEYS[2])
