-- @part     leaving
-- @summary  How a member goes out of a group. Needs the parts `conversation`, `walls`, `message`, `counts`, `member`.

-- Takes a member out of the group, for the group's topic and for the list of who goes. `by` is nil for nobody. Returns
-- those who were walled off from the user: they see now what the user has written here.
local function take_out(roll, user, by, is_traced)
  local freed = {}
  roll[user] = nil
  write('HDEL', key.roll, user)
  write('HDEL', key.online, user)
  expel('conversation:' .. conversation, user)
  for other in pairs(walled_from(user)) do
    if roll[other] then freed[#freed + 1] = other end
    set_wall(user, other, false)
    set_wall(other, user, false)
  end
  store_walls()
  walls_now = walled_now
  emit('conversation:' .. conversation, 'member:removed', {
    conversationId = conversation, userId = user, by = by or null,
  })
  leave_list(user, is_traced)
  return freed
end
