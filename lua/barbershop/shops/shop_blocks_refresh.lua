-- @summary  Carry a change of whom a user blocks to the shops where the user is.
-- @refresh  user:{userId}#blocks
-- @arg      userId   id
-- @coalesce 100 ms
-- @include  version
-- @include  shop_blocks
-- @key      places   user:{userId}#places
-- @key      blocks   user:{userId}#blocks
-- @key      version  user:{userId}#version
-- @calls    shop_blocks
-- @returns  {idle: bool}
-- @cost     O(n m) in the user's blocks, at most 240, and places, at most 16
-- @weight   2000

local SHOPS_MAX = 16 -- in one run: their calls must not fill the outbox. Nobody is at so many shops

local shops = {}
for _, topic in ipairs(read('SRANDMEMBER', key.places, SHOPS_MAX)) do
  local shop = string.match(topic, '^shop:([A-Za-z0-9._~:-]+)$')
  if shop and is_id(shop) then shops[#shops + 1] = shop end
end
tell_blocks(shops, true, true)
return {idle = true}
