-- @part     pair
-- @summary  The one id that two users share, and whose an id is.
--
-- The id of two users is their ids, sorted by their bytes, joined by `_`. Ids of users may have `_` themselves; then
-- `x_y_z` would belong to `x` and `y_z` and as well to `x_y` and `z`, and whoever may choose an id could enter where
-- two others talk. So an id with any other number of `_` than one belongs to no two users.

local PAIR_BYTES_MAX = 200 -- as the type `id`

-- Whether a text comes before another by its bytes. (Lua's `<` goes by the locale that Redis was started in.)
local function comes_before(one, other)
  for place = 1, math.min(#one, #other) do
    local first, second = string.byte(one, place), string.byte(other, place)
    if first ~= second then return first < second end
  end
  return #one < #other
end

-- The id that two users share; nil when they have none.
local function pair_id(one, other)
  if one == other or #one + #other >= PAIR_BYTES_MAX or string.find(one .. other, '_', 1, true) then return nil end
  if comes_before(other, one) then one, other = other, one end
  return one .. '_' .. other
end

-- The two users whose id this is; nil when it is nobody's.
local function users_of(pair)
  local one, other = string.match(pair, '^([^_]+)_([^_]+)$')
  if one and comes_before(one, other) and #one <= 128 and #other <= 128 then return one, other end
end
