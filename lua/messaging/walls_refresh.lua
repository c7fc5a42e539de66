-- @summary  Carry a change of whom a user blocks into the user's groups.
-- @refresh  user:{userId}#blocks
-- @arg      userId id
-- @coalesce 1000 ms
-- @include  version
-- @include  chats
-- @key      blocks  user:{userId}#blocks
-- @key      walled  user:{userId}#walled
-- @key      groups  user:{userId}#groups
-- @key      chats   user:{userId}#chats
-- @key      due     user:{userId}#walls_due
-- @key      version user:{userId}#version
-- @calls    change_walls
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in the user's blocks, at most 240, and O(m) in the bytes of the user's groups, at most 200,
--           or in the ids of more groups
-- @weight   2000
--
-- user:U#walled is the blocks as they were when this ran last. A change makes those groups due in which the user's list
-- has one of the users in question, or of which the list knows nothing. A run tells a few of them all that the user
-- blocks there now; another change meanwhile makes its groups due again. The list looks at those who come into a group
-- later when it hears of them (list_conversation.lua). Direct conversations need it not (pair_blocked.lua).

local CHANGED_MAX = 2 -- users whose block or unblock one run takes
local TURN_MAX = 8   -- groups that one run tells
local FEW_MAX = 2 -- groups that a run tells which has looked through all of them

-- Groups that have one of some users, or that the list does not have. Of a user who has made too many groups to look
-- through, all of them.
local function groups_with(users)
  local groups, found = read('SRANDMEMBER', key.groups, OWN_GROUPS_MAX + GROUPS_MAX), {}
  local texts = #groups > 0 and #groups <= GROUPS_MAX and read('HMGET', key.chats, unpack(groups)) or {}
  for index, group in ipairs(groups) do
    local text, is_due = texts[index], not texts[index]
    for _, user in ipairs(users) do
      is_due = is_due or string.find(text, '"' .. user .. '"', 1, true) ~= nil
    end
    if is_due and #group <= 200 and string.find(group, '^[%w._~:-]+$') then found[#found + 1] = group end
  end
  return found
end

-- Tells groups whom the user blocks there.
local function tell_groups(groups)
  if #groups == 0 then return end
  local version, all = next_version(key.version), nil
  for index, text in ipairs(read('HMGET', key.chats, unpack(groups))) do
    local chat, blocked = whole_chat(text), nil
    if chat then
      blocked = blocked_of(chat.m)
    else
      all = all or read('SRANDMEMBER', key.blocks, BLOCKS_MAX)
      blocked = all
    end
    if not chat or table.concat(blocked, ' ') ~= table.concat(chat.b, ' ') then
      later('change_walls', {
        conversationId = groups[index], userId = args.userId, blocks = array(blocked), version = version,
        of = chat and chat.r or nil,
      })
      if chat then
        chat.b = blocked
        store_chat(groups[index], chat)
      end
    end
  end
end

local added, removed = read('SDIFF', key.blocks, key.walled), read('SDIFF', key.walled, key.blocks)
local changed = #added + #removed
while #added > CHANGED_MAX do table.remove(added) end
while #added + #removed > CHANGED_MAX do table.remove(removed) end
local users = {}
for _, list in ipairs({added, removed}) do
  for _, user in ipairs(list) do users[#users + 1] = user end
end
if #added > 0 then write('SADD', key.walled, unpack(added)) end
if #removed > 0 then write('SREM', key.walled, unpack(removed)) end

local more = changed > #users
if #users > 0 then
  -- To look through all groups takes as long as to tell some. So a few are told at once, and others in the next run.
  local found = groups_with(users)
  if #found <= FEW_MAX then
    tell_groups(found)
  else
    write('SADD', key.due, unpack(found))
    write('EXPIRE', key.due, TTL_S)
  end
  more = more or #found > FEW_MAX or read('EXISTS', key.due) == 1
else
  local turn = read('SRANDMEMBER', key.due, TURN_MAX)
  tell_groups(turn)
  if #turn > 0 then write('SREM', key.due, unpack(turn)) end
  more = read('SCARD', key.due) > #turn
end
if more then return {idle = false, again_ms = now_ms} end
return {idle = true}
