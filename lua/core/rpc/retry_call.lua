-- @summary  Let a call of a service outside that was given up wait for a courier again.
-- @key      dead   #calls-dead:SERVICE
-- @key      calls  #calls:SERVICE
-- @returns  1 when it waits, 0 when it is not there or no call, -1 when as many calls wait as may
-- @errors   BADARG, BADKEY
-- @cost     O(1)
-- @weight   75
--
-- KEYS[1]   dead   stream: calls given up, each with `id`, `reason` and what it was
-- KEYS[2]   calls  stream: the calls that wait
-- ARGV[1]   id     of the entry among those given up
-- ARGV[2]   max    calls that may wait, 1...10000000

local DEAD_WORDS_MAX = 36 -- fields and values of an entry; what couriers and workers put here has 12

if #KEYS ~= 2 or #ARGV ~= 2 then return refuse('BADARG', 'retry_call takes 2 keys and 2 arguments') end
local max = integer(ARGV[2], 1, 10000000)
if not string.find(ARGV[1], '^%d+%-%d+$') or #ARGV[1] > 31 then return refuse('BADARG', 'id is none') end
if not max then return refuse('BADARG', 'max is not a number in range') end
local entry = redis.pcall('XRANGE', KEYS[1], ARGV[1], ARGV[1])
if failed(entry) then return bad_key('dead', entry) end
local waiting = redis.pcall('XLEN', KEYS[2])
if failed(waiting) then return bad_key('calls', waiting) end
if not entry[1] then return 0 end

local words, found, fields = {'XADD', KEYS[2], '*'}, {}, entry[1][2]
for place = 1, math.min(#fields, DEAD_WORDS_MAX), 2 do
  local name = fields[place]
  if name ~= 'id' and name ~= 'reason' then
    found[name] = true
    words[#words + 1], words[#words + 2] = name, fields[place + 1]
  end
end
if not (found.r and found.c and found.a) then return 0 end
if waiting >= max then return -1 end
local put = redis.pcall(unpack(words))
if failed(put) then return put end
redis.call('XDEL', KEYS[1], ARGV[1])
return 1
