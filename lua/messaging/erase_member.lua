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
-- @include  cleared
-- @include  counts
-- @include  member
-- @include  leaving
-- @include  ending
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      removed  conversation:{conversationId}#removed
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @key      online_at conversation:{conversationId}#online_at
-- @key      walls_at conversation:{conversationId}#walls_at
-- @key      barred   conversation:{conversationId}#barred
-- @key      log      conversation:{conversationId}#log
-- @topic    conversation:{conversationId}
-- @members
-- @calls    erase_member, list_conversation
-- @emits    messages:erased {conversationId: string, userId: string} -- all of this user's messages are gone
-- @emits    member:removed {conversationId: string, userId: string, by: string|null} -- of a group; by is null
-- @returns  {erased: int, done: bool}
-- @cost     O(n) in the messages looked at, at most 500 in one run
-- @weight   2000
-- @idempotent
--
-- The log of the conversation has the texts of messages, so it is deleted with them. Who comes back is told of a gap
-- and asks for a page. Each list hears of it once: what is unread, the newest message, and who is in the group. A
-- direct conversation in which the other one has no message is deleted. The maker of a group is followed by the member
-- who has been in it for longest. Whom the maker took out stays out: else a user could come back by an erasure.

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
local rest = read('ZCARD', key.order) - #gone
local was_member, had_words = roll[args.userId] ~= nil, #gone > 0 or #marks > 0 or args.after > 0
if not is_direct and read('HGET', key.facts, 'creator') == args.userId then
  local heir
  for user, one in pairs(roll) do
    local earlier = heir and (one.since < roll[heir].since or one.since == roll[heir].since and user < heir)
    if user ~= args.userId and (not heir or earlier) then heir = user end
  end
  if heir then write('HSET', key.facts, 'creator', heir) else write('HDEL', key.facts, 'creator') end
end
if not was_member and not had_words then return {erased = #gone, done = true} end
write('UNLINK', key.log)
emit('conversation:' .. args.conversationId, 'messages:erased', {
  conversationId = args.conversationId, userId = args.userId,
})

-- Ends a conversation that has neither messages nor members any more; a direct one that has no messages.
local function end_conversation()
  forget_conversation()
  if is_direct then leave_list(args.userId == first and second or first) end
end

if is_direct then
  leave_list(args.userId)
  roll[args.userId] = nil
  if rest == 0 then
    end_conversation()
    return {erased = #gone, done = true}
  end
  write('HDEL', key.roll, args.userId)
  write('HDEL', key.online, args.userId)
  write('HDEL', key.facts, 'cleared ' .. args.userId)
else
  if was_member then take_out(roll, args.userId) end
  if rest == 0 and next(roll) == nil then
    end_conversation()
    return {erased = #gone, done = true}
  end
end

is_gone = function(sender) return sender == args.userId end
local users, unread = {}, {}
for user, one in pairs(roll) do
  if not has_cleared(user) then users[#users + 1] = user end
  if one.unread > 0 then unread[#unread + 1] = user end
end
recount(roll, unread)
store_members(roll, unread)
move_lists(roll, users, newest_words, (not is_direct and members_words(roll) or '')
  .. ',"without":"' .. args.userId .. '"')
return {erased = #gone, done = true}
