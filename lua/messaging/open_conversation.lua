-- @command  open_conversation
-- @summary  Make a group of users: the step of create_conversation.lua at the group.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id -- who makes it
-- @arg      members        ids 1..51 -- all of them, in order
-- @arg      title          string 0..100
-- @arg      created        int 0..9007199254740991 -- ms
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  member
-- @include  group
-- @key      facts  conversation:{conversationId}#facts
-- @key      roll   conversation:{conversationId}#roll
-- @calls    list_conversation
-- @returns  {opened: bool}
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @idempotent

if read('EXISTS', key.facts) == 1 then return {opened = false} end
open_group(args.members, args.title, args.created)
return {opened = true}
