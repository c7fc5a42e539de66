-- @command  list_again
-- @summary  Say again to a member's list what the conversation is, after it had left the list.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  cleared
-- @include  counts
-- @include  member
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @calls    list_conversation
-- @returns  {listed: bool}
-- @cost     O(n) in the members, at most 50
-- @weight   900
-- @idempotent

local roll = load_roll(args.conversationId)
if is_direct or not roll[args.userId] then return {listed = false} end
tell_whole(roll, args.userId, newest_words, nil, true)
return {listed = true}
