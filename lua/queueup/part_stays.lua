-- @part     stays
-- @summary  The tags of stays in a listening session, which begin with a time.

-- The time with which the tag of a stay begins, 0 where there is none.
local function time_of(tag)
  return #(tag or '') > 12 and tonumber(string.sub(tag, 1, -13), 16) or 0
end

-- The tag of a new stay. It begins with a time after the user's last coming or going, and after the stay in this
-- session before; tags of one session grow with time.
local function new_tag(last, before)
  local digits = string.sub(random, 1, 12)
  return string.format('%x', math.max((integer(last, 0, INTEGER_MAX) or 0) + 1, time_of(before) + 1, now_ms)) .. digits
end
