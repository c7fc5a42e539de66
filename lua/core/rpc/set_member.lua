-- @summary  Take a user into a topic's members, or out of them, and note who was taken out for every gateway to see.
-- @key      members  {topic}#members
-- @key      removed  #removed
-- @returns  1 when it changed something, 0 when not, -1 when the topic has as many members as it may
-- @errors   BADARG, BADKEY
-- @cost     O(log n) in the removals of the last minute, at most 10000
-- @weight   500
--
-- KEYS[1]   members   set of users; not with `note`
-- KEYS[2]   removed   zset: "<topic> <user>" -> place: ms since 1970, and more than every other's; absent where it lies
--                     in another slot: then a removal is noted by a second call
-- ARGV[1]   topic     the members' topic
-- ARGV[2]   user      1...128 bytes
-- ARGV[3]   change    add, remove, or note: of a removal the note alone, whose key is then the only one
-- ARGV[4]   max       members that a topic may have, 1...10000000
--
-- A removal is noted even when the user was no member: the set may have been changed without this script, and the
-- sessions that joined before are looked at again then. Notes are kept for a minute; who reads less often looks at all.

local KEEP_MS = 60000
local NOTES_MAX = 10000

if #KEYS < 1 or #KEYS > 2 or #ARGV ~= 4 then
  return refuse('BADARG', 'set_member takes 1 or 2 keys and 4 arguments')
end
local topic, user, change = ARGV[1], ARGV[2], ARGV[3]
local max = integer(ARGV[4], 1, 10000000)
if not is_id(user) then return refuse('BADARG', 'user is not 1...128 allowed bytes') end
if #topic < 3 or #topic > 256 or string.find(topic, ' ', 1, true) then return refuse('BADARG', 'topic is none') end
local is_note = change == 'note' and #KEYS == 1
if change ~= 'add' and change ~= 'remove' and not is_note then
  return refuse('BADARG', 'change is neither add nor remove, nor a note of one key')
end
if not max then return refuse('BADARG', 'max is not a number in range') end

local members, removed = not is_note and KEYS[1], is_note and KEYS[1] or KEYS[2]
local is_member = members and redis.pcall('SISMEMBER', members, user) or 0
if failed(is_member) then return bad_key('members', is_member) end
if change == 'add' then
  if is_member == 1 then return 0 end
  if redis.call('SCARD', members) >= max then return -1 end
  return redis.pcall('SADD', members, user)
end
if not removed then return redis.pcall('SREM', members, user) end

local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = redis.pcall('ZREVRANGE', removed, 0, 0, 'WITHSCORES')
if failed(last) then return bad_key('removed', last) end
local place = now_ms
if last[2] then place = math.max(place, tonumber(last[2]) + 1) end
local added = redis.pcall('ZADD', removed, decimal(place), topic .. ' ' .. user)
if failed(added) then return added end
if members then redis.call('SREM', members, user) end
redis.call('ZREMRANGEBYSCORE', removed, '-inf', decimal(now_ms - KEEP_MS))
redis.call('ZREMRANGEBYRANK', removed, 0, -1 - NOTES_MAX)
redis.call('PEXPIRE', removed, KEEP_MS * 2)
return is_member
