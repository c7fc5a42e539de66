-- @part    again
-- @summary Have every cell that a listener is shown in decide anew who sees whom; it stands on the part listener.

local function settle_again()
  local place = place_of(key.place)
  for _, cell in ipairs(place and cells_of(place.latitude, place.longitude) or {}) do
    later('sync_listener', {cell = cell, userId = args.userId, isRights = true})
  end
end
