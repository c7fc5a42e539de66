-- @command  add_member
-- @summary  Take a user into a group; every member may, unless the group's maker took that user out.
-- @http     PUT /v1/conversations/{conversationId}/members/{memberId}
-- @allow    user|service
-- @arg      conversationId id
-- @arg      memberId       id -- who is taken in
-- @arg      userId         user -- who does it
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  cleared
-- @include  counts
-- @include  member
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      barred   conversation:{conversationId}#barred
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @calls    list_conversation
-- @emits    member:added {conversationId: string, userId: string, by: string}
-- @returns  {conversationId: string, userId: string, member: bool}
-- @errors   forbidden, too_many
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     60/60 s user
-- @rate     1000/86400 s user
-- @idempotent
--
-- A member reads everything that the group keeps, also what was said before.

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
if is_direct then fail('forbidden', 'A direct conversation has two members') end
if not is_id(args.memberId) then fail('bad_request', 'A member has an id of at most 128 characters') end
local names = {}
for user in pairs(roll) do names[#names + 1] = user end
if not roll[args.memberId] then
  if read('ZSCORE', key.barred, args.memberId) then
    if args.userId ~= read('HGET', key.facts, 'creator') then
      fail('forbidden', 'This user was taken out of the group; only who made the group may take the user in again')
    end
    write('ZREM', key.barred, args.memberId)
  end
  check_size(#names + 1, #table.concat(names) + #args.memberId)
  roll[args.memberId] = new_member(math.max(now_ms, last_ms()))
  store_members(roll, {args.memberId})
  emit('conversation:' .. args.conversationId, 'member:added', {
    conversationId = args.conversationId, userId = args.memberId, by = args.userId,
  })
  move_lists(roll, names, nil, members_words(roll))
  tell_whole(roll, args.memberId, newest_words, ',"by":"' .. args.userId .. '"')
end
return {conversationId = args.conversationId, userId = args.memberId, member = true}
