-- @summary  Count anew in a direct conversation what is unread and newest, when a block between the two begins or ends.
-- @refresh  pair:{conversationId}#blocks
-- @coalesce 1000 ms
-- @arg      conversationId id
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
-- @calls    list_conversation
-- @returns  {idle: bool}
-- @cost     O(n) in the newest messages, at most 500
-- @weight   1200
--
-- The block itself lies with the pack `people` (pair_blocked.lua). While one blocks the other, each of the two sees
-- only own messages, so nothing is unread. Other commands run between a change of the blocks and this script, and their
-- counts heed the block already. So no count or mark here tells what a list shows, and each run tells both lists
-- everything. A list in which nothing changes sends no event (list_conversation.lua).

local roll = load_roll(args.conversationId)
if not is_direct or read('EXISTS', key.roll) == 0 then return {idle = true} end
local users = {}
for _, user in ipairs({first, second}) do
  if not roll[user].is_unknown and not has_cleared(user) then users[#users + 1] = user end
end
recount(roll, users)
store_members(roll, users)
move_lists(roll, users, newest_words)
return {idle = true}
