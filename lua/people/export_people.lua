-- @command  export_people
-- @summary  Whom a user blocks and mutes, for the user's copy of all data.
-- @allow    worker
-- @exports
-- @arg      userId  user
-- @key      blocks  user:{userId}#blocks
-- @key      mutes   user:{userId}#mutes
-- @returns  {blocks: [string], mutes: [string]} -- in no order
-- @cost     O(n) in blocks and mutes, at most 240 each
-- @weight   2000
-- @readonly

-- The ids of a set. BLOCKS_MAX and MUTES_MAX are the same number.
local function people(name)
  local users = {}
  for _, user in ipairs(read('SRANDMEMBER', name, BLOCKS_MAX)) do
    if is_id(user) then users[#users + 1] = user end
  end
  return #users > 0 and raw(cjson.encode(users)) or array()
end

return {blocks = people(key.blocks), mutes = people(key.mutes)}
