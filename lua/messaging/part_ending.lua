-- @part     ending
-- @summary  How a conversation ends. Needs the parts `conversation` and `message`.

local VERSION_S = 3600

-- Leaves nothing of the conversation.
local function forget_conversation()
  local version = list_version()
  write('UNLINK', key.facts, key.roll, key.messages, key.order, key.removed, key.walls, key.walls_at, key.online,
    key.online_at, key.barred)
  -- A clock that goes back may not give a version again.
  write('HSET', key.facts, 'version', version)
  write('EXPIRE', key.facts, VERSION_S)
end
