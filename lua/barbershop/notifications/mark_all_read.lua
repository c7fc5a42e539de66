-- @command  mark_all_read
-- @summary  Mark all notifications of a user as read, on all of the user's devices.
-- @http     POST /v1/users/{userId}/notifications/read-all
-- @allow    user|service
-- @arg      userId user
-- @key      unread user:{userId}#unread
-- @topic    user:{userId}
-- @emits    notifications:read {ids: [string], unread: int} -- unread is 0; at most 1000 ids
-- @returns  {unread: int}
-- @cost     O(n) in unread notifications
-- @weight   1250

local IDS_MAX = 1000 -- above the inbox's 500

if read('SCARD', key.unread) > 0 then
  local ids = array()
  for _, id in ipairs(read('SRANDMEMBER', key.unread, IDS_MAX)) do
    if is_id(id) then ids[#ids + 1] = id end -- what is no id was not written by notify.lua
  end
  table.sort(ids)
  write('UNLINK', key.unread)
  emit('user:' .. args.userId, 'notifications:read', {ids = ids, unread = 0})
end
return {unread = 0}
