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
-- @include  message
-- @include  cleared
-- @include  counts
-- @key      facts    conversation:{conversationId}#facts
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      walls_at conversation:{conversationId}#walls_at
-- @key      log      conversation:{conversationId}#log
-- @calls    list_conversation
-- @returns  {changed: bool}
-- @cost     O(n) in the ids and in the members, at most 50, and O(m) in the newest messages, at most 500
-- @weight   2000
-- @idempotent
--
-- The call says all of the member's blocks here, so that the newest call alone counts, in whatever order they come.
-- One that knows of a stay before the present one only is over. The lists of those whom the change concerns are told
-- what is unread and newest now.
--
-- While one of two was not in the group, its events told all of the other. So where the log goes back to a time before
-- the later of them came, it is deleted with the first block between the two.

local roll = load_roll(args.conversationId)
local one = not is_direct and roll[args.userId]
if not one or args.of and args.of < one.since * 1000 then return {changed = false} end
if not is_newer(key.walls_at, args.userId, args.version) then return {changed = false} end
local came_ms = 0 -- when the last of those came who do not hear each other from now on
local blocked = {}
for _, user in ipairs(args.blocks) do
  if roll[user] and user ~= args.userId then blocked[user] = true end
end
for user in pairs(wall('>' .. args.userId)) do
  if not blocked[user] then blocked[user] = false end
end

-- Those who hear others from now on, with the newest message that each saw.
local concerned, saw = {}, {}
local function note(user)
  if not roll[user] or saw[user] ~= nil then return end
  concerned[#concerned + 1] = user
  saw[user] = newest_for(user) or false
end
for user, is_there in pairs(blocked) do
  if is_there ~= (wall('>' .. args.userId)[user] or false) and not wall('<' .. args.userId)[user] then
    note(args.userId)
    note(user)
    if is_there then came_ms = math.max(came_ms, one.since, roll[user].since) end
  end
end
for user, is_there in pairs(blocked) do set_wall(args.userId, user, is_there) end
store_walls()
local oldest = came_ms > 0 and read('XRANGE', key.log, '-', '+', 'COUNT', 1)[1]
if oldest and (integer(oldest[2][8], 0, YEAR_9999_MS) or 0) < came_ms then write('UNLINK', key.log) end
walls_now = walled_now
local counts, told = {}, {}
for index, user in ipairs(concerned) do counts[index] = roll[user].unread end
recount(roll, concerned)
for index, user in ipairs(concerned) do
  local newest = newest_for(user)
  if roll[user].unread ~= counts[index] or (newest and newest.id) ~= (saw[user] and saw[user].id or nil) then
    told[#told + 1] = user
  end
end
store_members(roll, told)
move_lists(roll, told, newest_words)
return {changed = next(blocked) ~= nil}
