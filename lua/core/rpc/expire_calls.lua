-- @summary  Give up calls of a service outside that no courier has finished in time, and tell how many wait.
-- @key      calls    #calls:SERVICE
-- @key      dead     #calls-dead:SERVICE
-- @key      courier  #courier:SERVICE
-- @returns  {waiting, oldest, dropped, dead, alive}: oldest in ms, 0 when none waits; alive 1 while a courier lives
-- @errors   BADARG, BADKEY
-- @cost     O(N) in calls given up, at most 25
-- @weight   1800
--
-- KEYS[1]   calls     stream: the calls, those that couriers have claimed among them
-- KEYS[2]   dead      stream: calls given up, each with `id`, `reason` and what it was
-- KEYS[3]   courier   string that couriers let expire
-- ARGV[1]   life_ms   how long a call may wait, 1000...604800000
-- ARGV[2]   dead_max  how many of those given up are kept, 1...100000
--
-- The time is Redis's own, from which the ids of the stream's entries are, too. A courier that has claimed a call
-- finds, when it finishes it, that it is no longer its own.

local BATCH = 25       -- calls given up in one run; the rest is left to the next
local DEAD_S = 604800   -- how long calls given up are kept after the last of them: a week
local WORDS_KEPT_MAX = 32 -- fields and values of an entry that are kept; scripts write 8

if #KEYS ~= 3 or #ARGV ~= 2 then return refuse('BADARG', 'expire_calls takes 3 keys and 2 arguments') end
local life_ms, dead_max = integer(ARGV[1], 1000, 604800000), integer(ARGV[2], 1, 100000)
if not life_ms or not dead_max then return refuse('BADARG', 'life_ms or dead_max is not a number in range') end
local entries = redis.pcall('XRANGE', KEYS[1], '-', '+', 'COUNT', BATCH + 1)
if failed(entries) then return bad_key('calls', entries) end
local dead = redis.pcall('XLEN', KEYS[2])
if failed(dead) then return bad_key('dead', dead) end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local gone, oldest, problem = {}, 0, nil
for index, entry in ipairs(entries) do
  local id = entry[1]
  local age = now_ms - tonumber(string.match(id, '^%d+'))
  if age < life_ms or index > BATCH then
    oldest = math.max(age, 1)
    break
  end
  local words = {'XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', 'id', id, 'reason', 'not finished in time'}
  for place = 1, math.min(#entry[2], WORDS_KEPT_MAX) do words[#words + 1] = entry[2][place] end
  local put = redis.pcall(unpack(words))
  if failed(put) then
    problem = put
    break
  end
  gone[#gone + 1] = id
end
if #gone > 0 then
  redis.call('EXPIRE', KEYS[2], DEAD_S)
  redis.pcall('XACK', KEYS[1], 'couriers', unpack(gone))
  redis.call('XDEL', KEYS[1], unpack(gone))
end
if problem then return problem end
return {redis.call('XLEN', KEYS[1]), oldest, #gone, redis.call('XLEN', KEYS[2]), redis.call('EXISTS', KEYS[3])}
