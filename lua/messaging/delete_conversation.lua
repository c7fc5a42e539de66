-- @command  delete_conversation
-- @summary  Delete a direct conversation for oneself, or a group for everybody: who made it may, and services.
-- @http     DELETE /v1/conversations/{conversationId}
-- @allow    user|service
-- @arg      conversationId id fold pair
-- @arg      userId         user -- who does it
-- @include  pair
-- @include  conversation
-- @include  cleared
-- @include  message
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @calls    list_conversation, end_group
-- @returns  {conversationId: string, deleted: bool}
-- @errors   forbidden
-- @cost     O(n) in the members, at most 50
-- @weight   900
-- @rate     60/60 s user
-- @rate     1000/86400 s user
-- @idempotent
--
-- A direct conversation leaves the user's list, and the user sees its messages no more. The other user keeps all of
-- it. It comes back to the list with the next message, without the earlier ones. A group ends a moment later
-- (end_group.lua).

local roll = load_roll(args.conversationId)
local one = roll[args.userId]
if not is_direct then
  local is_maker = one and args.userId == read('HGET', key.facts, 'creator')
  if caller.role ~= 'service' then need_member(roll, args.userId) end
  if not is_maker and caller.role ~= 'service' then
    fail('forbidden', 'Only who made the group may delete it; you can leave it')
  end
  if next(roll) then later('end_group', {conversationId = conversation}) end
  return {conversationId = conversation, deleted = true}
end
need_member(roll, args.userId)
local last = last_ms()
if last > cleared_ms(args.userId) then
  write('HSET', key.facts, 'cleared ' .. args.userId, decimal(last))
  one.since, one.unread = math.max(one.since, last), 0
  store_members(roll, {args.userId})
  write('HDEL', key.online, args.userId)
  leave_list(args.userId, true)
end
return {conversationId = conversation, deleted = true}
