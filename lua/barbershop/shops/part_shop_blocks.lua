-- @part     shop_blocks
-- @summary  Tell shops whom a user blocks who is there. Needs the part `version`, and the keys `blocks` and `version`.

-- Tells some shops all whom the user blocks now; those that the user has left are told of none. `must` tells also that
-- the user blocks nobody.
local function tell_blocks(shops, is_there, must)
  local blocks = {}
  for _, user in ipairs(read('SRANDMEMBER', key.blocks, BLOCKS_MAX)) do
    if is_id(user) then blocks[#blocks + 1] = user end
  end
  if #shops == 0 or #blocks == 0 and not must then return end
  local version = next_version(key.version)
  for _, shop in ipairs(shops) do
    later('shop_blocks', {
      shopId = shop, userId = args.userId, blocks = is_there and array(blocks) or array(), version = version,
    })
  end
end
