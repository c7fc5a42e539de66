-- @command  blocks
-- @summary  Whom a user blocks.
-- @http     GET /v1/users/{userId}/blocks
-- @allow    user|service
-- @arg      userId  user
-- @key      blocks  user:{userId}#blocks
-- @returns  {blocks: [string]} -- in no order
-- @cost     O(n) in the blocks, at most 240
-- @weight   1200
-- @readonly

local users = {}
for _, user in ipairs(read('SRANDMEMBER', key.blocks, BLOCKS_MAX)) do
  if is_id(user) then users[#users + 1] = user end
end
return {blocks = #users > 0 and raw(cjson.encode(users)) or array()}
