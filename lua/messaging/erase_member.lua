-- @command  erase_member
-- @summary  Forget a user's messages in a conversation, how far the user has read, and the membership of a group.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id
-- @arg      after          int 0..253370764800000 = 0 -- messages up to this time were looked at
-- @include  pair
-- @include  conversation
-- @include  walls
-- @include  message
-- @include  member
-- @include  leaving
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      removed  conversation:{conversationId}#removed
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @key      log      conversation:{conversationId}#log
-- @topic    conversation:{conversationId}
-- @members
-- @calls    erase_member, list_conversation
-- @emits    messages:erased {conversationId, userId} -- all of this user's messages are gone
-- @emits    member:removed {conversationId, userId, by} -- of a group; by is null
-- @returns  {erased, done}
-- @cost     O(n) in the messages looked at, at most 500 in one run
-- @weight   2000
-- @idempotent
--
-- The log of the conversation has the texts of messages, so it is deleted with them. Who comes back is told of a gap
-- and asks for a page. Each list hears of it once: what is unread, the newest message, and who is in the group.

local BATCH_MAX = 500

local roll = load_roll(args.conversationId)
local from = '(' .. decimal(args.after)
local entries = read('ZRANGEBYSCORE', key.order, from, '+inf', 'WITHSCORES', 'LIMIT', 0, BATCH_MAX)
local gone, ids, last = {}, {}, args.after
for index = 1, #entries, 2 do
  local sender, id = string.match(entries[index], '^(%S+) (%S+)$')
  last = integer(entries[index + 1], 0, YEAR_9999_MS) or last
  if sender == args.userId then gone[#gone + 1], ids[#ids + 1] = entries[index], id end
end
if #gone > 0 then
  write('ZREM', key.order, unpack(gone))
  write('HDEL', key.messages, unpack(ids))
end
if #entries == 2 * BATCH_MAX and last > args.after then
  later('erase_member', {conversationId = args.conversationId, userId = args.userId, after = last})
  return {erased = #gone, done = false}
end
-- What was removed has no text any more, but a sender.
local removed = read('ZRANGE', key.removed, 0, BATCH_MAX * 2 - 1)
local marks = {}
for index, text in ipairs(#removed > 0 and read('HMGET', key.messages, unpack(removed)) or {}) do
  local message = message_of(removed[index], text)
  if message and message.sender == args.userId then marks[#marks + 1] = removed[index] end
end
if #marks > 0 then
  write('HDEL', key.messages, unpack(marks))
  write('ZREM', key.removed, unpack(marks))
end
if #gone > 0 or #marks > 0 or roll[args.userId] then write('UNLINK', key.log) end
if not roll[args.userId] then return {erased = #gone, done = true} end

emit('conversation:' .. args.conversationId, 'messages:erased', {
  conversationId = args.conversationId, userId = args.userId,
})
local newest_left = nil
for _, entry in ipairs(read('ZREVRANGE', key.order, 0, #gone)) do
  local sender, id = string.match(entry, '^(%S+) (%S+)$')
  if sender and sender ~= args.userId then
    newest_left = message_of(id, read('HGET', key.messages, id))
    break
  end
end
if is_direct then
  roll[args.userId] = nil
  write('HDEL', key.roll, args.userId)
  write('HDEL', key.online, args.userId)
  leave_list(args.userId)
else
  take_out(roll, args.userId)
end
move_lists(roll, hearers(roll, NOBODY), newest_left, newest_left and walled_from(newest_left.sender),
  not is_direct and members_words(roll) or nil)
return {erased = #gone, done = true}
