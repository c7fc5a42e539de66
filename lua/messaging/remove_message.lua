-- @command  remove_message
-- @summary  Remove a message for everybody; its sender may.
-- @http     DELETE /v1/conversations/{conversationId}/messages/{id}
-- @allow    user|service
-- @arg      conversationId id fold pair
-- @arg      messageId      id as id
-- @arg      userId         user -- who sent it
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  cleared
-- @include  counts
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      removed  conversation:{conversationId}#removed
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @topic    user:*
-- @calls    list_conversation, cut_log, forget_preview
-- @emits    message:removed {id: string, conversationId: string, timestampMs: int}
-- @emits    messages:changed {conversationId: string} -- in its place where a member blocks another
-- @returns  {id: string, conversationId: string, removed: bool}
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

-- The last of the newest UNREAD_MAX messages, and the one behind it, which is counted from now on.
local edge = read('ZREVRANGE', key.order, UNREAD_MAX - 1, UNREAD_MAX, 'WITHSCORES')
local is_counted = not edge[2] or message.ms >= (integer(edge[2], 0, YEAR_9999_MS) or 0)
local enters = edge[3] and {sender = string.match(edge[3], '^%S+'), ms = integer(edge[4], 0, YEAR_9999_MS) or 0}
is_gone = function(_, id) return id == message.id end

-- By how much the removal changes what a member has not read.
local function difference(user, one)
  local change, mark = 0, mark_of(one)
  if not is_counted then return change end
  if user ~= message.sender and not walled[user] and mark < message.ms then change = -1 end
  if enters and enters.sender ~= user and mark < enters.ms and not walls_of(user)[enters.sender] then
    change = change + 1
  end
  return change
end

if read('ZCARD', key.removed) >= REMOVED_MAX then
  local oldest = read('ZRANGE', key.removed, 0, 0)[1]
  write('ZREM', key.removed, oldest)
  write('HDEL', key.messages, oldest)
end
write('ZREM', key.order, message.sender .. ' ' .. message.id)
write('HSET', key.messages, message.id, encode({s = message.sender, m = message.ms, x = 1}))
write('ZADD', key.removed, decimal(message.ms), message.id)
write('EXPIRE', key.removed, TTL_S)
local changed, counted, shown = {}, {}, {}
for user, one in pairs(roll) do
  local unread = math.max(0, math.min(one.unread + difference(user, one), UNREAD_MAX))
  local newest = not walled[user] and newest_for(user)
  local was_shown = not walled[user] and not one.is_unknown and message.ms > cleared_ms(user)
    and (not newest or newest.ms < message.ms)
  if unread ~= one.unread then
    one.unread = unread
    changed[#changed + 1] = user
  end
  if was_shown then
    shown[#shown + 1] = user
  elseif changed[#changed] == user then
    counted[#counted + 1] = user
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
cut_text(roll, message, message.changed or message.ms)
move_lists(roll, shown, newest_words)
move_lists(roll, counted)
return answer
