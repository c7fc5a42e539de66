-- @summary  Tell what a key holds by a digest that is the same wherever a copy of it lies.
-- @key      any  any
-- @returns  {type, digest, ttl_ms}: type `none` and an empty digest when there is no key; -1 without an end
-- @errors   BADARG
-- @cost     O(n log n) in the elements: for data that nobody uses meanwhile
-- @weight   1000
--
-- KEYS[1]   any     a key of any type
-- ARGV[1]   field   of a hash, which is left out; absent for none
--
-- Writes nothing. Hashes and sets tell their elements in an order of their own on each server, so theirs are summed.

if #KEYS ~= 1 or #ARGV > 1 then return refuse('BADARG', 'key_digest takes 1 key and at most 1 argument') end

local CHUNK = 1000
local key = KEYS[1]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return {kind, '', -1} end

local count, chain, low, high = 0, '', 0, 0

-- Adds words whose order counts, or the words of one element.
local function digest(words)
  local lengths = {}
  for index, word in ipairs(words) do lengths[index] = #word end
  return redis.sha1hex(table.concat(lengths, ' ') .. '\n' .. table.concat(words))
end

-- Adds a list of words to the chain.
local function link(words)
  chain = redis.sha1hex(chain .. digest(words))
  count = count + #words
end

-- Adds an element wherever it stands; both sums stay below 2^53.
local function add(words)
  local text = digest(words)
  low = (low + tonumber(string.sub(text, 1, 13), 16)) % 4503599627370496
  high = (high + tonumber(string.sub(text, 14, 26), 16)) % 4503599627370496
  count = count + 1
end

if kind == 'string' then
  link({redis.call('GET', key)})
elseif kind == 'hash' then
  local all = redis.call('HGETALL', key)
  for index = 1, #all, 2 do
    if all[index] ~= ARGV[1] then add({all[index], all[index + 1]}) end
  end
elseif kind == 'set' then
  for _, member in ipairs(redis.call('SMEMBERS', key)) do add({member}) end
elseif kind == 'zset' or kind == 'list' then
  local read = kind == 'zset' and 'ZRANGE' or 'LRANGE'
  local from = 0
  while true do
    local some = kind == 'zset' and redis.call(read, key, from, from + CHUNK - 1, 'WITHSCORES')
      or redis.call(read, key, from, from + CHUNK - 1)
    if #some == 0 then break end
    link(some)
    from = from + CHUNK
  end
elseif kind == 'stream' then
  local from = '-'
  while true do
    local some = redis.call('XRANGE', key, from, '+', 'COUNT', CHUNK)
    if #some == 0 then break end
    for _, entry in ipairs(some) do
      link({entry[1]})
      link(entry[2])
    end
    from = '(' .. some[#some][1]
  end
  local facts = redis.call('XINFO', 'STREAM', key)
  for index = 1, #facts, 2 do
    if facts[index] == 'last-generated-id' then link({facts[index + 1]}) end
  end
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do link({group[2], decimal(group[6]), group[8]}) end
else
  link({redis.call('DUMP', key)})
end
local text = redis.sha1hex(chain .. ' ' .. decimal(count) .. ' ' .. decimal(low) .. ' ' .. decimal(high))
return {kind, text, redis.call('PTTL', key)}
