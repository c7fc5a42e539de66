-- @command  messages
-- @summary  A page of a conversation's messages, newest first, without those of users whom the caller does not hear.
-- @http     GET /v1/conversations/{conversationId}/messages
-- @allow    user|service
-- @arg      conversationId id fold pair
-- @arg      userId         user -- who reads
-- @arg      before         int 0..253370764800000 optional -- a timestampMs: `next` of the last page
-- @arg      limit          int 1..100 = 50
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  cleared
-- @include  page
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @returns  {conversationId: string, messages: [message], next: int|null} -- next is null at the end
-- @errors   forbidden
-- @cost     O(log n + m) in stored messages and those told, and O(k) in the members
-- @weight   1900
-- @readonly
--
-- A page also ends before 32 KiB, but for its first message.

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
local walled = walled_from(args.userId)
local texts, older = page_before(args.before, args.limit, receipts_of(roll, walled), walled, cleared_ms(args.userId))
return {
  conversationId = args.conversationId, messages = raw('[' .. table.concat(texts, ',') .. ']'), next = older or null,
}
