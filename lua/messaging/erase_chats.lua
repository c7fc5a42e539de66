-- @command  erase_chats
-- @summary  Forget a user's conversations, and have each of them forget the user.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @include  version
-- @include  chats
-- @key      chats     user:{userId}#chats
-- @key      order     user:{userId}#chat_order
-- @key      strangers user:{userId}#strangers
-- @key      groups    user:{userId}#groups
-- @key      spoken    user:{userId}#spoken
-- @key      opened    user:{userId}#opened
-- @key      beats     user:{userId}#beats
-- @key      leaving   user:{userId}#leaving
-- @key      walled    user:{userId}#walled
-- @key      shown     user:{userId}#shown
-- @key      awake     user:{userId}#awake
-- @key      counts    user:{userId}#chat_unread
-- @key      left      user:{userId}#left
-- @key      traces    user:{userId}#traces
-- @key      forgotten user:{userId}#forgotten
-- @key      due       user:{userId}#walls_due
-- @key      version   user:{userId}#version
-- @calls    erase_member, erase_chats
-- @returns  {left: int} -- how many entries the lists still have, some of them for one conversation
-- @cost     O(n) in the conversations of one run, at most 6
-- @weight   2000
-- @idempotent
--
-- Each run takes BATCH_MAX conversations and calls itself for the rest, so that the outbox never holds the calls of
-- more than a few of them. Calls of conversations from before the erasure may come after it. The note `*` in
-- `left` has them erased then (list_conversation.lua).

local BATCH_MAX = 6

local ids, seen, left = {}, {}, 0
-- Notes the ids of a list of `count` that are none yet, while there is room; `left` counts the others.
local function take(list, count)
  left = left + math.max(0, count - #list)
  for _, id in ipairs(list) do
    if not seen[id] and #id <= 200 and string.find(id, '^[%w._~:-]+$') then
      if #ids < BATCH_MAX then seen[id], ids[#ids + 1] = true, id else left = left + 1 end
    end
  end
end
local places, listed = read('ZRANGE', key.order, 0, BATCH_MAX - 1), {}
for index, place in ipairs(places) do listed[index] = string.sub(place, 17) end
take(listed, read('ZCARD', key.order))
take(read('SRANDMEMBER', key.groups, BATCH_MAX), read('SCARD', key.groups))
take(read('ZRANGE', key.spoken, 0, BATCH_MAX - 1), read('ZCARD', key.spoken))
take(read('ZRANGE', key.traces, 0, BATCH_MAX - 1), read('ZCARD', key.traces))
for _, id in ipairs(ids) do later('erase_member', {conversationId = id, userId = args.userId}) end
note_version(key.left, '*', now_ms * 1000)

if left == 0 or #ids == 0 then
  write('UNLINK', key.chats, key.order, key.strangers, key.groups, key.spoken, key.walled, key.shown, key.awake,
    key.counts, key.due, key.traces, key.forgotten, key.opened, key.beats, key.leaving)
  write('EXPIRE', key.version, LATE_S)
  return {left = 0}
end
for index, text in ipairs(read('HMGET', key.chats, unpack(ids))) do
  local chat = chat_of(text)
  if chat then places[#places + 1] = place_of(ids[index], chat.l) end
end
if #places > 0 then
  write('ZREM', key.order, unpack(places))
  write('ZREM', key.strangers, unpack(places))
end
write('HDEL', key.chats, unpack(ids))
write('HDEL', key.counts, unpack(ids))
write('ZREM', key.spoken, unpack(ids))
write('ZREM', key.opened, unpack(ids))
write('ZREM', key.traces, unpack(ids))
write('SREM', key.groups, unpack(ids))
later('erase_chats', {userId = args.userId})
return {left = left}
