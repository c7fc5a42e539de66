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
-- @include  member
-- @include  leaving
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @topic    conversation:{conversationId}
-- @members
-- @calls    list_conversation
-- @emits    member:removed {conversationId, userId, by}
-- @returns  {conversationId, userId, member}
-- @errors   forbidden
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     60/60 s user
-- @rate     1000/86400 s user
-- @idempotent
--
-- Messages of who has left stay. A group that nobody is in any more ends with its keys' time.

local roll = load_roll(args.conversationId)
if args.userId then need_member(roll, args.userId) end
if is_direct then fail('forbidden', 'A direct conversation has two members') end
local creator = read('HGET', key.facts, 'creator')
if args.userId and args.userId ~= args.memberId and args.userId ~= creator then
  fail('forbidden', 'Only who made the group may take others out of it')
end
if roll[args.memberId] then
  take_out(roll, args.memberId, args.userId)
  local names = {}
  for user in pairs(roll) do names[#names + 1] = user end
  move_lists(roll, names, false, nil, members_words(roll))
end
return {conversationId = args.conversationId, userId = args.memberId, member = false}
