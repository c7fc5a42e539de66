-- @summary  Find an answer that is kept, or leave a question for the couriers of a service outside.
-- @key      answers  #answers:SERVICE
-- @key      asks     #asks:SERVICE
-- @key      courier  #courier:SERVICE
-- @returns  {1, answer}; {0} asked; {-1} no courier lives; {-2} too many questions wait
-- @errors   BADARG, BADKEY
-- @cost     O(1), and in the bytes of an answer that is kept
-- @weight   300
--
-- KEYS[1]   answers     hash: digest -> "<ms since 1970 until which it is good> <answer>"
-- KEYS[2]   asks        list: questions, the oldest first
-- KEYS[3]   courier     string that couriers let expire
-- ARGV[1]   digest      1...64 bytes: what makes two questions one
-- ARGV[2]   question    one JSON object
-- ARGV[3]   asks_max    questions that may wait, 1...1000000
-- ARGV[4]   life_ms     how long the asker waits, 1...86400000
--
-- Questions that no courier takes vanish with the list, some time after the last of them was asked. The time is Redis's
-- own: answers are kept by one gateway and found by another.

local GOOD_MS_MAX = 3600000 -- the longest that keep_answer.lua allows

if #KEYS ~= 3 or #ARGV ~= 4 then return refuse('BADARG', 'ask takes 3 keys and 4 arguments') end
local asks_max, life_ms = integer(ARGV[3], 1, 1000000), integer(ARGV[4], 1, 86400000)
if not asks_max or not life_ms then return refuse('BADARG', 'asks_max or life_ms is not a number in range') end
local kept = redis.pcall('HGET', KEYS[1], ARGV[1])
if failed(kept) then return bad_key('answers', kept) end
if kept then
  local time = redis.call('TIME')
  local good, text = string.match(kept, '^(%d+) (.*)$')
  local left_ms = good and tonumber(good) - tonumber(time[1]) * 1000 - math.floor(tonumber(time[2]) / 1000)
  -- An answer that is good for longer than any was kept before the clock went back.
  if left_ms and left_ms > 0 and left_ms <= GOOD_MS_MAX then return {1, text} end
end
if redis.call('EXISTS', KEYS[3]) == 0 then return {-1} end
local waiting = redis.pcall('LLEN', KEYS[2])
if failed(waiting) then return bad_key('asks', waiting) end
if waiting >= asks_max then return {-2} end
local put = redis.pcall('RPUSH', KEYS[2], ARGV[2])
if failed(put) then return put end
redis.call('PEXPIRE', KEYS[2], 2 * life_ms)
return {0}
