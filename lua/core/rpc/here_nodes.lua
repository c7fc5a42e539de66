-- @summary  Say that a gateway lives, and read how long ago each of them last said so.
-- @key      nodes  #here-nodes
-- @returns  {name, age_ms, ...}: the gateways and the milliseconds since each one's last word, in decimal text
-- @errors   BADARG, BADKEY
-- @cost     O(n log n) in the gateways, at most 256
-- @weight   600
--
-- KEYS[1]   nodes     zset: gateway's name -> ms since 1970 of its last word
-- ARGV[1]   name      1...32 bytes of A-Z a-z 0-9 _ -; empty: only read
-- ARGV[2]   keep_ms   a gateway is forgotten after so long, 1000...86400000
--
-- Time is Redis's own here, since the gateways compare their ages. It may go back: a word from later counts as one of
-- now.

local NODES_MAX = 256

if #KEYS ~= 1 or #ARGV ~= 2 then return refuse('BADARG', 'here_nodes takes 1 key and 2 arguments') end
local name, keep_ms = ARGV[1], integer(ARGV[2], 1000, 86400000)
if not keep_ms then return refuse('BADARG', 'keep_ms is not a number in range') end
if name ~= '' and (#name > 32 or not string.find(name, '^[%w_-]+$')) then
  return refuse('BADARG', 'name is not 1...32 allowed bytes')
end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if name ~= '' then
  local added = redis.pcall('ZADD', KEYS[1], decimal(now_ms), name)
  if failed(added) then return bad_key('nodes', added) end
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', decimal(now_ms - keep_ms))
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - NODES_MAX)
  for _, later in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. decimal(now_ms), '+inf')) do
    redis.call('ZADD', KEYS[1], decimal(now_ms), later)
  end
  redis.call('PEXPIRE', KEYS[1], keep_ms)
end
local found = redis.pcall('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
if failed(found) then return bad_key('nodes', found) end
for index = 2, #found, 2 do found[index] = decimal(math.max(0, now_ms - tonumber(found[index]))) end
return found
