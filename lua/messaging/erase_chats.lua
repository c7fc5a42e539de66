-- @command  erase_chats
-- @summary  Forget a user's conversations, and have each of them forget the user.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @key      chats     user:{userId}#chats
-- @key      order     user:{userId}#chat_order
-- @key      strangers user:{userId}#strangers
-- @key      groups    user:{userId}#groups
-- @key      spoken    user:{userId}#spoken
-- @key      walled    user:{userId}#walled
-- @key      shown     user:{userId}#shown
-- @key      awake     user:{userId}#awake
-- @key      counts    user:{userId}#chat_unread
-- @calls    erase_member, erase_chats
-- @returns  {left} -- how many the longest of the lists still has
-- @cost     O(n) in the conversations of one run, at most 180
-- @weight   2000
-- @idempotent
--
-- Each run takes BATCH_MAX conversations of each list and calls itself for the rest.

local BATCH_MAX = 60

local ids, seen = {}, {}
-- Notes the ids of a list that are none yet.
local function take(list)
  for _, id in ipairs(list) do
    if not seen[id] and #id <= 200 and string.find(id, '^[%w._~:-]+$') then
      seen[id], ids[#ids + 1] = true, id
    end
  end
end
local listed = {}
for index, place in ipairs(read('ZRANGE', key.order, 0, BATCH_MAX - 1)) do listed[index] = string.sub(place, 17) end
take(read('ZRANGE', key.spoken, 0, BATCH_MAX - 1))
take(read('SRANDMEMBER', key.groups, BATCH_MAX))
take(listed)
for _, id in ipairs(ids) do later('erase_member', {conversationId = id, userId = args.userId}) end

local left = math.max(read('ZCARD', key.spoken), read('SCARD', key.groups), read('ZCARD', key.order)) - BATCH_MAX
if left <= 0 then
  write('UNLINK', key.chats, key.order, key.strangers, key.groups, key.spoken, key.walled, key.shown, key.awake,
    key.counts)
  return {left = 0}
end
if #ids > 0 then
  write('ZREM', key.spoken, unpack(ids))
  write('SREM', key.groups, unpack(ids))
end
write('ZREMRANGEBYRANK', key.order, 0, BATCH_MAX - 1)
later('erase_chats', {userId = args.userId})
return {left = left}
