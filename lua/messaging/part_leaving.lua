-- @part     leaving
-- @summary  How a member goes out of a group. Needs the parts `conversation`, `walls`, `message` and `member`.

-- Takes a member out of the group, for the group's topic and for the list of who goes. `by` is nil for nobody.
local function take_out(roll, user, by)
  roll[user] = nil
  write('HDEL', key.roll, user)
  write('HDEL', key.online, user)
  expel('conversation:' .. conversation, user)
  for other in pairs(walled_from(user)) do
    set_wall(user, other, false)
    set_wall(other, user, false)
  end
  store_walls()
  emit('conversation:' .. conversation, 'member:removed', {
    conversationId = conversation, userId = user, by = by or null,
  })
  leave_list(user)
end
