-- @command  remove_member
-- @summary  Leave a group, or take a user out of it: who made it may, and services.
-- @http     DELETE /v1/conversations/{conversationId}/members/{memberId}
-- @allow    user|service|worker
-- @arg      conversationId id
-- @arg      memberId       id -- who goes
-- @arg      userId         user optional -- who does it; a service may leave it out
-- @include  pair
-- @include  conversation
-- @include  walls
-- @include  message
-- @include  cleared
-- @include  counts
-- @include  member
-- @include  leaving
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      barred   conversation:{conversationId}#barred
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @topic    conversation:{conversationId}
-- @members
-- @calls    list_conversation
-- @emits    member:removed {conversationId: string, userId: string, by: string|null}
-- @returns  {conversationId: string, userId: string, member: bool}
-- @errors   forbidden
-- @cost     O(n) in the members, at most 50, and O(m) in the newest messages, at most 500
-- @weight   2000
-- @rate     60/60 s user
-- @rate     1000/86400 s user
-- @idempotent
--
-- Messages of who has left stay. A group that nobody is in any more ends with its keys' time. Whom the group's maker or
-- a service takes out, no other member can take in again (add_member.lua).

local BARRED_MAX = 1000

local roll = load_roll(args.conversationId)
if args.userId then need_member(roll, args.userId) end
if is_direct then fail('forbidden', 'A direct conversation has two members') end
local creator = read('HGET', key.facts, 'creator')
if args.userId and args.userId ~= args.memberId and args.userId ~= creator then
  fail('forbidden', 'Only who made the group may take others out of it')
end
local is_barred = args.memberId ~= creator and args.memberId ~= args.userId
  and (args.userId == creator or caller.role == 'service')
if is_barred and roll[args.memberId] then
  write('ZADD', key.barred, decimal(now_ms), args.memberId)
  write('ZREMRANGEBYRANK', key.barred, 0, -1 - BARRED_MAX)
  write('EXPIRE', key.barred, TTL_S)
end
if roll[args.memberId] then
  local freed = take_out(roll, args.memberId, args.userId,
    is_barred or args.memberId == creator or roll[args.memberId].wrote)
  local names, is_freed = {}, {}
  for _, user in ipairs(freed) do is_freed[user] = true end
  for user in pairs(roll) do
    if not is_freed[user] then names[#names + 1] = user end
  end
  recount(roll, freed)
  store_members(roll, freed)
  move_lists(roll, names, nil, members_words(roll))
  move_lists(roll, freed, newest_words, members_words(roll))
end
return {conversationId = args.conversationId, userId = args.memberId, member = false}
