-- @command  mark_read
-- @summary  Mark notifications of a user as read, on all of the user's devices.
-- @http     POST /v1/users/{userId}/notifications/read
-- @allow    user|service
-- @arg      userId user
-- @arg      ids    ids 1..100
-- @key      unread user:{userId}#unread
-- @topic    user:{userId}
-- @emits    notifications:read {ids: [string], unread: int} -- those that were unread until now
-- @returns  {unread: int}
-- @cost     O(m) in the ids
-- @weight   250

local flags = read('SMISMEMBER', key.unread, unpack(args.ids))
local marked, seen = array(), {}
for index, id in ipairs(args.ids) do
  if flags[index] == 1 and not seen[id] then
    seen[id] = true
    marked[#marked + 1] = id
  end
end
local unread = read('SCARD', key.unread) - #marked
if #marked > 0 then
  write('SREM', key.unread, unpack(marked))
  emit('user:' .. args.userId, 'notifications:read', {ids = marked, unread = unread})
end
return {unread = unread}
