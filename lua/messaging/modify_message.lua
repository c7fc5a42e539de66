-- @command  modify_message
-- @summary  Change the text of a message; its sender may.
-- @http     PATCH /v1/conversations/{conversationId}/messages/{id}
-- @allow    user|service
-- @arg      conversationId id fold pair
-- @arg      messageId      id as id
-- @arg      userId         user -- who sent it
-- @arg      text           string 1..TEXT_MAX
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  cleared
-- @include  counts
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @calls    list_conversation, cut_log, forget_preview
-- @emits    message:modified message
-- @emits    messages:changed {conversationId: string} -- in its place where a member blocks another
-- @returns  message
-- @errors   forbidden, blocked 403, not_found
-- @cost     O(n) in the members, at most 50
-- @weight   1800
-- @rate     120/60 s user
-- @rate     2000/86400 s user
-- @idempotent
--
-- The place of a message in the order never changes.

local roll = load_roll(args.conversationId)
need_member(roll, args.userId)
local message = message_of(args.messageId, read('HGET', key.messages, args.messageId))
if not message or message.removed then fail('not_found', 'There is no such message') end
local walled = walled_from(args.userId)
if message.sender ~= args.userId then
  -- What a user does not hear is not there.
  if walled[message.sender] then fail('not_found', 'There is no such message') end
  fail('forbidden', 'Only its sender may change a message')
end
local receipts = receipts_of(roll, walled)
if message.text == args.text then return raw(message_text(message, receipts)) end
if is_direct and next(walled) then fail('blocked', 'One of you blocks the other') end

local said_ms = message.changed or message.ms
message.text, message.changed = args.text, math.max(now_ms, (message.changed or message.ms) + 1)
write('HSET', key.messages, message.id, stored_message(message.sender, message.text, message.ms, message.changed))
local text = message_text(message, receipts)
-- The text names readers, whom not everybody in the group may hear.
if next(walled) == nil and not is_direct and read('HLEN', key.walls) > 0 then walled = {[''] = true} end
tell('message:modified', text, walled)
cut_text(roll, message, said_ms)
local shown = {}
for _, user in ipairs(hearers(roll, walled)) do
  local newest = not roll[user].is_unknown and newest_for(user)
  if newest and newest.id == message.id then shown[#shown + 1] = user end
end
move_lists(roll, shown, preview_words(message))
return raw(text)
