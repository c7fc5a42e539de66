-- @part     voters
-- @summary  Who voted on a track, in a session that names its voters.
-- @type     standing {trackId: string, upvotes: int, downvotes: int, score: int, position: int}
--
-- For scripts that have the key voters, a hash: '' -> `1` in a session that names them (start_session.lua), trackId ->
-- `UP|DOWN`, the ids of the users whose votes count, each with a blank behind it. A track names voters of
-- VOTERS_BYTES_MAX bytes; whoever votes when they are used up counts and is not named. What others wrote is begun anew.

local VOTERS_BYTES_MAX = 4096

-- A list without a user.
local function without(list, user)
  local padded = ' ' .. list
  local first, last = string.find(padded, ' ' .. user .. ' ', 1, true)
  return first and string.sub(padded, 2, first) .. string.sub(padded, last + 1) or list
end

-- Notes that a user's vote on a track is now `up`, `down` or `none`; `is_new`: the track has no votes yet.
local function note_vote(track, user, vote, is_new)
  local found = read('HMGET', key.voters, '', track)
  if not found[1] then return end
  local text = not is_new and found[2] or '|'
  local up, down
  if #text <= VOTERS_BYTES_MAX + 1 then up, down = string.match(text, '^([^|]*)|([^|]*)$') end
  up, down = without(up or '', user), without(down or '', user)
  if #up + #down + #user + 1 <= VOTERS_BYTES_MAX then
    if vote == 'up' then up = up .. user .. ' ' elseif vote == 'down' then down = down .. user .. ' ' end
  end
  write('HSET', key.voters, track, up .. '|' .. down)
end
