-- @summary  Count anew in a direct conversation what is unread and newest, when a block between the two begins or ends.
-- @refresh  pair:{conversationId}#blocks
-- @coalesce 1000 ms
-- @arg      conversationId id
-- @include  pair
-- @include  conversation
-- @include  message
-- @include  counts
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @calls    list_conversation
-- @returns  {idle}
-- @cost     O(n) in the newest messages, at most 500
-- @weight   1200
--
-- The block itself lies with the pack `people` (pair_blocked.lua). While one blocks the other, each of the two sees
-- only own messages, so nothing is unread. `shut` in the facts says that lists were told so.

local roll = load_roll(args.conversationId)
if not is_direct or read('EXISTS', key.order) == 0 then return {idle = true} end
local is_shut = next(walled_from(first)) ~= nil
local was_shut = read('HGET', key.facts, 'shut') == '1'
local users, counts, told = {}, {}, {}
for _, user in ipairs({first, second}) do
  if not roll[user].is_unknown then users[#users + 1], counts[#counts + 1] = user, roll[user].unread end
end
recount(roll, users)
for index, user in ipairs(users) do
  if is_shut ~= was_shut or roll[user].unread ~= counts[index] then told[#told + 1] = user end
end
if is_shut ~= was_shut then
  if is_shut then write('HSET', key.facts, 'shut', '1') else write('HDEL', key.facts, 'shut') end
end
store_members(roll, told)
move_lists(roll, told, newest_words)
return {idle = true}
