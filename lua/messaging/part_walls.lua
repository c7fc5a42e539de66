-- @part     walls
-- @summary  Changes of who blocks whom in a group. Needs the part `conversation`.

local looked = {} -- what was read or changed: a field -> its users, as a set

-- The users of a field.
local function wall(field)
  if not looked[field] then
    looked[field] = {}
    for user in string.gmatch(read('HGET', key.walls, field) or '', '%S+') do looked[field][user] = true end
  end
  return looked[field]
end

-- Notes that a member blocks another, or does not.
local function set_wall(one, other, is_there)
  wall('>' .. one)[other] = is_there or nil
  wall('<' .. other)[one] = is_there or nil
end

-- Users who neither hear nor are heard by a user, by id, after the changes of this run.
local function walled_now(user)
  local walled = {}
  for _, side in ipairs({'>', '<'}) do
    for other in pairs(wall(side .. user)) do walled[other] = true end
  end
  return walled
end

-- Stores what was changed.
local function store_walls()
  for field, users in pairs(looked) do
    local names = {}
    for user in pairs(users) do names[#names + 1] = user end
    if #names > 0 then
      write('HSET', key.walls, field, table.concat(names, ' '))
    else
      write('HDEL', key.walls, field)
    end
  end
  if next(looked) then write('EXPIRE', key.walls, TTL_S) end
end
