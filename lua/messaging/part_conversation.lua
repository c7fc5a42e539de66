-- @part     conversation
-- @summary  Who is in a conversation, how far each has read, and who is walled off from whom.
--
-- Keys of the conversation C. All end a year after its last message.
--   conversation:C#facts    hash: title, creator, last (ms of the newest message), version (the last one that lists
--                           were given, see part_version.lua)
--   conversation:C#roll     hash userId -> `SINCE DELIVERED READ UNREAD WROTE`: ms, ms, ms, a count, 0 or 1
--   conversation:C#messages hash messageId -> JSON {s: sender, t: text, m: ms, e: ms of the last change}, or
--                           {s, m, x: 1} of one that was removed
--   conversation:C#order    zset `SENDER ID` -> ms, no two alike, of what was not removed
--   conversation:C#removed  zset messageId -> ms
--   conversation:C#walls    hash, in groups: `>A` -> the members whom A blocks, `<A` -> those who block A
--   conversation:C#walls_at zset userId -> the version of whom the user blocks there; an hour
--   conversation:C#barred   zset userId -> ms, in groups: whom the maker or a service took out; the newest 1000
--   conversation:C#online   hash userId -> `1 MS` or `0 MS`
--   conversation:C#online_at zset userId -> the version of that; an hour
--   pair:C#blocks           set of those of the two who block the other (pair_blocked.lua)
--
-- The id of a direct conversation is that of its two users (part_pair.lua); they are in it from the beginning and for
-- ever. Every other conversation is a group, whose id the gateway made, without `_`.

local UNREAD_MAX = 500
local TTL_S = 31622400
local NOBODY = {}

local conversation, first, second -- the id, and the two users of a direct one
local is_direct = false

-- A member as stored; nil for what is none.
local function member_of(text)
  local since, delivered, seen, unread, wrote = string.match(text or '', '^(%d+) (%d+) (%d+) (%d+) ([01])$')
  since, delivered = integer(since, 0, YEAR_9999_MS), integer(delivered, 0, YEAR_9999_MS)
  seen, unread = integer(seen, 0, YEAR_9999_MS), integer(unread, 0, UNREAD_MAX)
  if not (since and delivered and seen and unread) then return nil end
  return {since = since, delivered = delivered, read = seen, unread = unread, wrote = wrote == '1'}
end

local function text_of_member(one)
  return string.format('%d %d %d %d %d', one.since, one.delivered, one.read, one.unread, one.wrote and 1 or 0)
end

local function new_member(since)
  return {since = since, delivered = 0, read = 0, unread = 0, wrote = false}
end

-- Whether others may know when a member is there: who has neither written nor read here is a stranger.
local function is_shown(one)
  return one.wrote or one.read > 0
end

-- When the newest message came, ms; 0 before the first.
local function last_ms()
  return integer(read('HGET', key.facts, 'last'), 0, YEAR_9999_MS) or 0
end

-- Everybody in the conversation of that id, by their ids. All functions below are about this conversation. One of the
-- two of a direct conversation `is_unknown` as long as nothing is stored of that user here.
local function load_roll(id)
  conversation = id
  first, second = users_of(id)
  is_direct = first ~= nil
  local roll = {}
  if read('HLEN', key.roll) <= MEMBERS_MAX then
    local found = read('HGETALL', key.roll)
    for index = 1, #found, 2 do
      local user = found[index]
      local is_known = not is_direct or user == first or user == second
      if is_known and is_id(user) then roll[user] = member_of(found[index + 1]) end
    end
  end
  if is_direct then
    for _, user in ipairs({first, second}) do
      if not roll[user] then
        roll[user] = new_member(0)
        roll[user].is_unknown = true
      end
    end
  end
  return roll
end

-- The member who acts. To everybody else a group that exists and one that does not are the same.
local function need_member(roll, user)
  local one = user and roll[user]
  if not one and not is_direct and string.find(conversation, '_', 1, true) then
    fail('bad_request', 'The id of a direct conversation is the ids of its two users, sorted, joined by one _')
  end
  if not one then fail('forbidden', 'You are not in this conversation') end
  return one
end

-- Who neither hears nor is heard by a user here, by id.
local function walled_from(user)
  if is_direct then
    if read('SCARD', key.pair) == 0 then return NOBODY end
    return {[user == first and second or first] = true}
  end
  local found = read('HMGET', key.walls, '>' .. user, '<' .. user)
  if not found[1] and not found[2] then return NOBODY end
  local walled = {}
  for other in string.gmatch((found[1] or '') .. ' ' .. (found[2] or ''), '%S+') do walled[other] = true end
  return walled
end

-- The version of what this run tells the lists of users: greater than any before, or of a change that was told already
-- the last one. Needs the key `facts`.
local version_told
local function list_version(is_again)
  if not version_told then
    local last = integer(read('HGET', key.facts, 'version'), 0, INTEGER_MAX - 1) or 0
    if is_again and last > 0 then return decimal(last) end
    version_told = decimal(math.min(math.max(last + 1, math.max(now_ms, last_ms()) * 1000), INTEGER_MAX))
    write('HSET', key.facts, 'version', version_told)
    write('EXPIRE', key.facts, TTL_S)
  end
  return version_told
end

-- Stores members, `users` of the roll. For one who was unknown, what was said before counts as read.
local function store_members(roll, users)
  local words = {}
  for index, user in ipairs(users) do
    if roll[user].is_unknown then roll[user].since = last_ms() end
    words[2 * index - 1], words[2 * index] = user, text_of_member(roll[user])
  end
  if #words > 0 then
    write('HSET', key.roll, unpack(words))
    write('EXPIRE', key.roll, TTL_S)
  end
end

-- Tells the conversation what a member did, unless somebody here is walled off from the member: then everybody else is
-- told only that there is something to ask for.
local function tell(event, text, walled)
  local topic = 'conversation:' .. conversation
  if next(walled) == nil then
    emit(topic, event, text)
  elseif not is_direct then
    emit(topic, 'messages:changed', {conversationId = conversation})
  end
end
