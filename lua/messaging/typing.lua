-- @command  typing
-- @summary  Tell a conversation that a user types, or no longer does. Nothing is kept.
-- @http     POST /v1/conversations/{conversationId}/typing
-- @allow    user|service
-- @arg      conversationId id fold pair
-- @arg      userId         user -- who types
-- @arg      typing         bool = true
-- @include  pair
-- @include  conversation
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @emits    typing {conversationId: string, userId: string, typing: bool} -- without a position: it is in no history
-- @returns  {conversationId: string, typing: bool}
-- @errors   forbidden
-- @cost     O(n) in the members, at most 50
-- @weight   400
-- @rate     120/60 s user
-- @idempotent

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
if next(walled_from(args.userId)) == nil then
  tell_now('conversation:' .. args.conversationId, 'typing', {
    conversationId = args.conversationId, userId = args.userId, typing = args.typing,
  })
end
return {conversationId = args.conversationId, typing = args.typing}
