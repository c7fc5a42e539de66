-- @part     dj
-- @summary  How many of a session's tracks each user has queued and added.
--
-- For scripts that have the key adders, a hash: userId -> `QUEUED ADDED`, the tracks of the user that are queued now,
-- and those that were new to the session when the user added them.

local ADDER_BYTES_MAX = 128

-- What a user has queued, and has added.
local function adder(user)
  local queued, added = string.match(read('HGET', key.adders, user) or '', '^(%d+) (%d+)$')
  return integer(queued, 0, TRACKS_MAX) or 0, integer(added, 0, TRACKS_MAX) or 0
end

-- A track leaves the queue; `text` is what add_track.lua stored for it.
local function leave_queue(text)
  local item = decode(text)
  local user = type(item) == 'table' and item.addedBy
  if type(user) ~= 'string' or #user > ADDER_BYTES_MAX then return end
  local queued, added = adder(user)
  if queued > 0 then write('HSET', key.adders, user, decimal(queued - 1) .. ' ' .. decimal(added)) end
end
