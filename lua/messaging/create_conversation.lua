-- @command  create_conversation
-- @summary  Make a group of users; who makes it is in it.
-- @http     POST /v1/conversations 201
-- @allow    user|service
-- @arg      userId         user -- who makes it
-- @arg      members        ids 0..50 -- the others; who makes it may be named, too
-- @arg      title          string 0..100 optional
-- @derive   conversationId = uuid()
-- @span     userId -- The name of the operation lies with its caller: a retry is told the group that was made.
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  member
-- @include  group
-- @key      groups user:{userId}#groups
-- @key      facts  conversation:{conversationId}#facts
-- @key      roll   conversation:{conversationId}#roll
-- @calls    list_conversation
-- @steps    open_conversation
-- @returns  {id: string, title: string, members: [string], createdAt: string}
-- @errors   too_many
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     10/60 s user
-- @rate     100/86400 s user
--
-- Two users who want to talk need no group: their conversation is there from the beginning. A group may have the same
-- members as another.

if read('SCARD', key.groups) >= OWN_GROUPS_MAX then
  fail('too_many', 'You are in ' .. OWN_GROUPS_MAX .. ' groups; leave some before you make another')
end
local names, is_named = {args.userId}, {[args.userId] = true}
for _, user in ipairs(args.members) do
  if not is_id(user) then fail('bad_request', 'A member has an id of at most 128 characters') end
  if not is_named[user] then
    is_named[user] = true
    names[#names + 1] = user
  end
end
check_size(#names, #table.concat(names))
local title = args.title or ''
table.sort(names)
if homes_apart then
  step('open_conversation', {
    conversationId = args.conversationId, userId = args.userId, members = array(names), title = title, created = now_ms,
  })
else
  open_group(names, title, now_ms)
end
return {id = args.conversationId, title = title, members = array(names), createdAt = iso(now_ms)}
