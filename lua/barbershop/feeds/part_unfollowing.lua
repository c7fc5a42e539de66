-- @part     unfollowing
-- @summary  End a user's following of barbers whom a set has. For scripts that have the key follows.

local UNFOLLOWED_MAX = 25     -- in one run; each is told

-- Ends it; returns whether there are more.
local function unfollow_members(name)
  if read('EXISTS', name) == 0 then return false end
  local topics, barbers, ended = read('SRANDMEMBER', key.follows, FOLLOWS_MAX), {}, {}
  for index, topic in ipairs(topics) do barbers[index] = string.match(topic, '^feed:(.+)$') or '' end
  for index, is_member in ipairs(#barbers > 0 and read('SMISMEMBER', name, unpack(barbers)) or {}) do
    if is_member == 1 and #ended < UNFOLLOWED_MAX then ended[#ended + 1] = topics[index] end
  end
  if #ended > 0 then write('SREM', key.follows, unpack(ended)) end
  for _, topic in ipairs(ended) do
    emit('user:' .. args.userId, 'follows:changed', {topic = topic, following = false})
  end
  return #ended == UNFOLLOWED_MAX
end
