-- @command  change_walls
-- @summary  Note in a group which of its members block which.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id -- one of the members
-- @arg      added          ids 0..50 optional -- whom this member blocks now
-- @arg      removed        ids 0..50 optional -- whom this member blocks no more
-- @arg      by             ids 0..50 optional -- who blocks this member
-- @include  pair
-- @include  conversation
-- @include  walls
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @returns  {changed}
-- @cost     O(n) in the ids and in the members, at most 50
-- @weight   1200
-- @idempotent

local roll = load_roll(args.conversationId)
if is_direct or not roll[args.userId] then return {changed = false} end
for _, user in ipairs(args.added or {}) do
  if roll[user] then set_wall(args.userId, user, true) end
end
for _, user in ipairs(args.by or {}) do
  if roll[user] then set_wall(user, args.userId, true) end
end
for _, user in ipairs(args.removed or {}) do
  if roll[user] then set_wall(args.userId, user, false) end
end
store_walls()
return {changed = next(looked) ~= nil}
