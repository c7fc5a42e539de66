-- @command  rename_conversation
-- @summary  Give a group another title; every member may.
-- @http     PATCH /v1/conversations/{conversationId}
-- @allow    user|service
-- @arg      conversationId id
-- @arg      title          string 0..100
-- @arg      userId         user -- who does it
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  member
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @calls    list_conversation
-- @emits    conversation:renamed {conversationId: string, title: string}
-- @returns  {conversationId: string, title: string}
-- @errors   forbidden
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     30/60 s user
-- @rate     500/86400 s user
-- @idempotent

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
if is_direct then fail('forbidden', 'A direct conversation has no title') end
if args.title ~= title_of(read('HGET', key.facts, 'title')) then
  write('HSET', key.facts, 'title', args.title)
  emit('conversation:' .. conversation, 'conversation:renamed', {conversationId = conversation, title = args.title})
  local names = {}
  for user in pairs(roll) do names[#names + 1] = user end
  move_lists(roll, names, nil, members_words(roll, args.title))
end
return {conversationId = conversation, title = args.title}
