-- @command  change_walls
-- @summary  Note in a group whom of its members a member blocks.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id -- one of the members
-- @arg      blocks         ids 0..240 -- whom this member blocks, of those whom the member's home knows in the group
-- @arg      version        int 0..9007199254740991 -- of the member's home
-- @arg      of             int 0..9007199254740991 optional -- the group's version that the member's home knew
-- @include  pair
-- @include  conversation
-- @include  version
-- @include  walls
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      walls_at conversation:{conversationId}#walls_at
-- @returns  {changed}
-- @cost     O(n) in the ids and in the members, at most 50
-- @weight   1200
-- @idempotent
--
-- The call says all of the member's blocks here, so that the newest call alone counts, in whatever order they come.
-- One that knows of a stay before the present one only is over.

local roll = load_roll(args.conversationId)
local one = not is_direct and roll[args.userId]
if not one or args.of and args.of < one.since * 1000 then return {changed = false} end
if not is_newer(key.walls_at, args.userId, args.version) then return {changed = false} end
local blocked = {}
for _, user in ipairs(args.blocks) do
  if roll[user] and user ~= args.userId then blocked[user] = true end
end
for user in pairs(wall('>' .. args.userId)) do
  if not blocked[user] then blocked[user] = false end
end
for user, is_there in pairs(blocked) do set_wall(args.userId, user, is_there) end
store_walls()
return {changed = next(blocked) ~= nil}
