-- @command  remove_message
-- @summary  Remove a message for everybody; its sender may.
-- @http     DELETE /v1/conversations/{conversationId}/messages/{id}
-- @allow    user|service
-- @arg      conversationId id
-- @arg      messageId      id as id
-- @arg      userId         user -- who sent it
-- @include  pair
-- @include  conversation
-- @include  message
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      removed  conversation:{conversationId}#removed
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @topic    user:*
-- @calls    list_conversation
-- @emits    message:removed {id, conversationId, timestampMs}
-- @emits    messages:changed {conversationId} -- in its place where a member blocks another
-- @returns  {id, conversationId, removed}
-- @errors   forbidden, not_found
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     120/60 s user
-- @rate     2000/86400 s user
-- @idempotent
--
-- The id of a removed message stays, without its text, so that a retry that comes late does not send it again: those of
-- the newest REMOVED_MAX removed messages.

local REMOVED_MAX = 1000

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
local message = message_of(args.messageId, read('HGET', key.messages, args.messageId))
if not message then fail('not_found', 'There is no such message') end
local walled = walled_from(args.userId)
if message.sender ~= args.userId then
  if walled[message.sender] or message.removed then fail('not_found', 'There is no such message') end
  fail('forbidden', 'Only its sender may remove a message')
end
local answer = {id = message.id, conversationId = args.conversationId, removed = true}
if message.removed then return answer end

local was_newest = read('ZREVRANGE', key.order, 0, 0)[1] == message.sender .. ' ' .. message.id
local before = was_newest and read('ZREVRANGE', key.order, 1, 1)[1]
local id = before and string.match(before, ' (%S+)$')
local last = id and message_of(id, read('HGET', key.messages, id))
if read('ZCARD', key.removed) >= REMOVED_MAX then
  local oldest = read('ZRANGE', key.removed, 0, 0)[1]
  write('ZREM', key.removed, oldest)
  write('HDEL', key.messages, oldest)
end
write('ZREM', key.order, message.sender .. ' ' .. message.id)
write('HSET', key.messages, message.id, encode({s = message.sender, m = message.ms, x = 1}))
write('ZADD', key.removed, decimal(message.ms), message.id)
write('EXPIRE', key.removed, TTL_S)
local changed = {}
for user, one in pairs(roll) do
  if user ~= message.sender and not walled[user] and one.read < message.ms and one.since < message.ms
    and one.unread > 0 then
    one.unread = one.unread - 1
    changed[#changed + 1] = user
  end
end
store_members(roll, changed)
if is_direct and next(walled) ~= nil then
  -- The other one hears nothing; the sender's other devices must ask.
  emit('user:' .. args.userId, 'messages:changed', {conversationId = args.conversationId})
else
  tell('message:removed', {
    id = message.id, conversationId = args.conversationId, timestampMs = message.ms,
  }, walled)
end
if was_newest then
  move_lists(roll, hearers(roll, walled), last, last and walled_from(last.sender))
else
  move_lists(roll, changed, false)
end
return answer
