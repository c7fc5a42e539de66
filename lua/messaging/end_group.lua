-- @command  end_group
-- @summary  End a group: its messages are forgotten, and it leaves the lists of its members.
-- @allow    worker
-- @arg      conversationId id
-- @include  pair
-- @include  conversation
-- @include  message
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
-- @calls    list_conversation
-- @emits    conversation:deleted {conversationId: string}
-- @returns  {ended: bool}
-- @cost     O(n) in the members, at most 50
-- @weight   2000
-- @idempotent

local roll = load_roll(args.conversationId)
if is_direct or next(roll) == nil then return {ended = false} end
write('UNLINK', key.log)
emit('conversation:' .. conversation, 'conversation:deleted', {conversationId = conversation})
for user in pairs(roll) do
  expel('conversation:' .. conversation, user)
  leave_list(user)
end
forget_conversation()
return {ended = true}
