-- @summary  Carry a change of whom a user blocks into the user's groups.
-- @refresh  user:{userId}#blocks
-- @arg      userId id
-- @key      blocks user:{userId}#blocks
-- @key      walled user:{userId}#walled
-- @key      groups user:{userId}#groups
-- @calls    change_walls
-- @returns  {idle, again_ms}
-- @cost     O(n) in the user's blocks, at most 240, and O(m) in the groups, at most 200
-- @weight   2000
--
-- user:U#walled is what the groups know: the blocks as they were when this ran last. Direct conversations need it not
-- (pair_blocked.lua).

local GROUPS_MAX = 200
local BATCH_MAX = 5

local added, removed = read('SDIFF', key.blocks, key.walled), read('SDIFF', key.walled, key.blocks)
local more = #added > BATCH_MAX or #removed > BATCH_MAX
for _, list in ipairs({added, removed}) do
  for index = #list, 1, -1 do
    if index > BATCH_MAX or not is_id(list[index]) then table.remove(list, index) end
  end
end
if #added + #removed > 0 then
  local words = encode({userId = args.userId, added = array(added), removed = array(removed)})
  words = string.sub(words, 1, -2) .. ',"conversationId":"'
  for _, group in ipairs(read('SRANDMEMBER', key.groups, GROUPS_MAX)) do
    if #group <= 200 and string.find(group, '^[%w._~:-]+$') then
      later('change_walls', words .. group .. '"}')
    end
  end
  if #added > 0 then write('SADD', key.walled, unpack(added)) end
  if #removed > 0 then write('SREM', key.walled, unpack(removed)) end
end
if more then return {idle = false, again_ms = now_ms} end
return {idle = true}
