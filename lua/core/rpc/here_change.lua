-- @summary  Note who has come to a topic and who has left it, and tell every gateway that has members of the topic.
-- @key      here  {topic}#here
-- @returns  {epoch, version, [id, ...]}: the set's version afterwards, in decimal text, an empty epoch and 0 when there
--           is no set; and who was not taken in because the topic is full
-- @errors   BADARG, BADKEY, NOPERM
-- @cost     O(n) in the members of the call, at most 128
-- @weight   600
--
-- KEYS[1]   here      hash: id -> member, one JSON object; and `#` -> "<epoch> <version>"
-- ARGV[1]   channel   the topic's pub/sub channel
-- ARGV[2]   epoch     a random candidate, used when the set begins anew
-- ARGV[3]   max       members that a topic may have, 1...100000
-- ARGV[4]   ttl_s     seconds the set is kept after the last call
-- ARGV[5]   left      how many leave, 0...128
-- ARGV[6]   ids       those who leave; then, in turn, the id and the member of each who is here, 128 in all
--
-- The version grows by one with every change, so a gateway that has missed one knows it. A call that changes nothing
-- tells nothing, but keeps the set alive.

local MEMBERS_MAX = 128

if #KEYS ~= 1 or #ARGV < 5 then return refuse('BADARG', 'here_change takes 1 key and 5 arguments or more') end
local channel, candidate = ARGV[1], ARGV[2]
local max, ttl_s = integer(ARGV[3], 1, 100000), integer(ARGV[4], 1, TTL_SECONDS_MAX)
local left = integer(ARGV[5], 0, MEMBERS_MAX)
if channel == '' then return refuse('BADARG', 'channel is empty') end
if not is_epoch(candidate) then return refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
if not max or not ttl_s or not left then return refuse('BADARG', 'max, ttl_s or left is not a number in range') end
local first = 6 + left -- the first who is here
local count = left + (#ARGV - first + 1) / 2
if #ARGV < first - 1 or count > MEMBERS_MAX or count ~= math.floor(count) then
  return refuse('BADARG', 'the members are not 0...128 ids, or ids and members')
end

local ids = {'#'}
for index = 6, first - 1 do ids[#ids + 1] = ARGV[index] end
for index = first, #ARGV, 2 do ids[#ids + 1] = ARGV[index] end
for index = 2, #ids do
  if #ids[index] > 64 or not string.find(ids[index], '^[%w_.-]+$') then
    return refuse('BADARG', 'an id is not 1...64 allowed bytes')
  end
end
for index = first + 1, #ARGV, 2 do
  if string.byte(ARGV[index]) ~= 123 or string.byte(ARGV[index], -1) ~= 125 then
    return refuse('BADARG', 'a member is not a JSON object')
  end
end

local old = redis.pcall('HMGET', KEYS[1], unpack(ids))
if failed(old) then return bad_key('here', old) end
local epoch, version = string.match(old[1] or '', '^([%w_-]+) (%d+)$')
version = is_epoch(epoch) and integer(version, 1, INTEGER_MAX - 1)

-- Decides: who goes, who is written, who finds no room.
local size = redis.call('HLEN', KEYS[1]) - (old[1] and 1 or 0)
local gone, set, refused = {}, {'#', ''}, {}
for index = 1, left do
  if old[index + 1] then
    gone[#gone + 1] = ids[index + 1]
    size = size - 1
  end
end
for index = first, #ARGV, 2 do
  local id, member = ARGV[index], ARGV[index + 1]
  local before = old[left + 2 + (index - first) / 2]
  if not before and size >= max then
    refused[#refused + 1] = id
  elseif before ~= member then
    if not before then size = size + 1 end
    set[#set + 1] = id
    set[#set + 1] = member
  end
end
if #gone == 0 and #set == 2 then
  redis.call('EXPIRE', KEYS[1], ttl_s)
  return {version and epoch or '', version and decimal(version) or '0', refused}
end

if version then version = version + 1 else epoch, version = candidate, 1 end
set[2] = epoch .. ' ' .. decimal(version)
local may = redis.acl_check_cmd
if may and not may(SEND, channel, '') then return refuse('NOPERM', 'the Redis user may not send on the channel') end
local written = redis.pcall('HSET', KEYS[1], unpack(set))
if failed(written) then return written end
if #gone > 0 then redis.call('HDEL', KEYS[1], unpack(gone)) end
redis.call('EXPIRE', KEYS[1], ttl_s)
local here = {}
for index = 3, #set, 2 do here[#here + 1] = '["' .. set[index] .. '",' .. set[index + 1] .. ']' end
local names = #gone > 0 and '"' .. table.concat(gone, '","') .. '"' or ''
redis.call(SEND, channel,
  'H' .. set[2] .. '\n{"left":[' .. names .. '],"here":[' .. table.concat(here, ',') .. ']}')
return {epoch, decimal(version), refused}
