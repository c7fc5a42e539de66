-- @summary  Keep one worker alive and give it the partitions it wants that nobody else holds, atomically.
-- @key      workers  #workers
-- @key      leases   #leases
-- @returns  {names, held}: the live workers' names, and partition, token in turn, decimal text
-- @errors   BADARG, BADKEY
-- @cost     O(P + W log W) in partitions (at most 256) and live workers (at most 256)
-- @weight   500
--
-- KEYS[1]   workers   zset: worker's name -> ms since 1970 when it counts as dead
-- KEYS[2]   leases    hash: partition -> "<name> <token> <ms since 1970 when it is free>", and `token`, the last token
-- ARGV[1]   name      1...64 bytes of A-Z a-z 0-9 _ -
-- ARGV[2]   lease_ms  how long this call lasts, 100...600000; 0: the worker ends, everything of it is free at once
-- ARGV[3]   wanted    partitions 0...255, decimal, joined by one space; empty: none
--
-- A partition that this worker holds is renewed with its token when it is wanted and freed when it is not. A wanted
-- one that is free, or whose holder's time is over, becomes this worker's with a new token. Tokens only grow, even
-- when the keys were lost, since none is less than the time: whoever held a partition before has a smaller one.
--
-- Time is Redis's own: leases of several machines need one clock. That clock may go back. So whatever ends more than
-- one lease of the caller ahead was written before that, and is over: a worker that lives asks again.

local PARTITIONS_MAX = 256
local WORKERS_MAX = 256

if #KEYS ~= 2 or #ARGV ~= 3 then return refuse('BADARG', 'lease takes 2 keys and 3 arguments') end
local name, lease_ms = ARGV[1], integer(ARGV[2], 0, 600000)
if #name > 64 or not string.find(name, '^[A-Za-z0-9_-]+$') then
  return refuse('BADARG', 'name is not 1...64 allowed bytes')
end
if not lease_ms or (lease_ms > 0 and lease_ms < 100) then
  return refuse('BADARG', 'lease_ms is neither 0 nor 100...600000')
end

local wanted = {}
for word in string.gmatch(ARGV[3], '[^ ]+') do
  local partition = integer(word, 0, PARTITIONS_MAX - 1)
  if not partition or lease_ms == 0 then return refuse('BADARG', 'wanted names what is no partition, or at the end') end
  wanted[word] = true
end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'zset' and kind ~= 'none' then return refuse('BADKEY', 'workers holds another type') end
local table_now = redis.pcall('HGETALL', KEYS[2])
if failed(table_now) then return bad_key('leases', table_now) end

-- Reads the table; what is not a lease is free.
local holders, token = {}, now_ms
for index = 1, #table_now, 2 do
  local field, value = table_now[index], table_now[index + 1]
  if field == 'token' then
    token = math.max(token, (integer(value, 0, INTEGER_MAX - PARTITIONS_MAX) or 0) + 1)
  elseif integer(field, 0, PARTITIONS_MAX - 1) then
    local holder, held, until_ms = string.match(value, '^([A-Za-z0-9_-]+) ([0-9]+) ([0-9]+)$')
    until_ms = integer(until_ms, 0, INTEGER_MAX)
    if holder and until_ms and integer(held, 0, INTEGER_MAX) and until_ms > now_ms
      and (lease_ms == 0 or until_ms <= now_ms + lease_ms) then
      holders[field] = {name = holder, token = held}
    end
  end
end

-- Decides: fields to set, fields to delete.
local set, freed, held = {}, {}, {}
local until_text = decimal(now_ms + lease_ms)
for partition in pairs(wanted) do
  local holder = holders[partition]
  local own = holder and holder.name == name
  if own or not holder then
    local text = own and holder.token or decimal(token)
    if not own then token = token + 1 end
    set[#set + 1] = partition
    set[#set + 1] = name .. ' ' .. text .. ' ' .. until_text
    held[#held + 1] = partition
    held[#held + 1] = text
  end
end
for partition, holder in pairs(holders) do
  if holder.name == name and not wanted[partition] then freed[#freed + 1] = partition end
end
set[#set + 1] = 'token'
set[#set + 1] = decimal(token)

-- Writes; only the first can be refused, and then nothing has changed.
local first = redis.pcall('HSET', KEYS[2], unpack(set))
if failed(first) then return first end
if #freed > 0 then redis.call('HDEL', KEYS[2], unpack(freed)) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', decimal(now_ms))
if lease_ms > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. until_text, '+inf')
  redis.call('ZADD', KEYS[1], until_text, name)
else
  redis.call('ZREM', KEYS[1], name)
end
return {redis.call('ZRANGE', KEYS[1], 0, WORKERS_MAX - 1), held}
