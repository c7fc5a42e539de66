-- @summary  Part a listener at once from whom it has blocked, and let it meet again whom it blocks no more.
-- @refresh  user:{userId}#blocks
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @key      blocks user:{userId}#blocks
-- @key      place  user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle}
-- @cost     O(1)
-- @weight   200

local place = place_of(key.place)
for _, cell in ipairs(place and cells_of(place.latitude, place.longitude) or {}) do
  later('sync_listener', {cell = cell, userId = args.userId})
end
return {idle = true}
