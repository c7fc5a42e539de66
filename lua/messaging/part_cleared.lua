-- @part     cleared
-- @summary  Up to when a user of a direct conversation has deleted it. Needs the part `conversation`.
--
-- A user who deletes a direct conversation sees its earlier messages no more; the other user keeps them. The field
-- `cleared USER` of conversation:C#facts is the time of the newest message then.

local cleared = {}

-- The time up to which a user sees nothing, ms; 0 for all who have deleted nothing.
local function cleared_ms(user)
  if not (is_direct and user) then return 0 end
  if not cleared[user] then
    cleared[user] = integer(read('HGET', key.facts, 'cleared ' .. user), 0, YEAR_9999_MS) or 0
  end
  return cleared[user]
end

-- Whether a user has deleted all that there is, so that the conversation is not in the user's list.
local function has_cleared(user)
  local ms = cleared_ms(user)
  return ms > 0 and ms >= last_ms()
end
