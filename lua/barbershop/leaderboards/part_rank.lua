-- @part     rank
-- @summary  How a place on a leaderboard is told.
-- @type     place {rank: int, userId: string,
--            score: number|null} -- score is null where others have stored an infinite one
--
-- Other systems may rank what is no user: such a member is told as text when it is short, else its rank is left out.

-- JSON text of the places that ZREVRANGE WITHSCORES tells, the first of which has this rank.
local function places(first, found)
  local items = {}
  for index = 1, #found, 2 do
    local member, score = found[index], tonumber(found[index + 1])
    if #member <= MEMBER_BYTES_MAX then
      local name = string.find(member, '^[%w._~:-]+$') and '"' .. member .. '"' or encode(member)
      items[#items + 1] = '{"rank":' .. first + (index - 1) / 2 .. ',"userId":' .. name
        .. ',"score":' .. (shortest(score) or 'null') .. '}'
    end
  end
  return raw('[' .. table.concat(items, ',') .. ']')
end
