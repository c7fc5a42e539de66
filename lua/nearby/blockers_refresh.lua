-- @summary  The same for who was blocked, in case it moved before it was known.
-- @refresh  user:{userId}#blockers
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @key      blockers user:{userId}#blockers
-- @key      place    user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle}
-- @cost     O(1)
-- @weight   200

local place = place_of(key.place)
for _, cell in ipairs(place and cells_of(place.latitude, place.longitude) or {}) do
  later('sync_listener', {cell = cell, userId = args.userId})
end
return {idle = true}
