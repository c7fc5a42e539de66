-- @part     awake
-- @summary  Whether a user has a live connection, and how conversations hear of it. Needs the part `version`.
--
-- Keys of the user U:
--   user:U#awake   the time of the last heartbeat, ms
--   user:U#beats   hash of the gateways' shards that have a session of U -> their last heartbeats, ms
--   user:U#leaving when the last of those sessions ended, ms; it ends with the next heartbeat
--   user:U#shown   1 while the conversations were told that U is online
-- Told are the newest conversations in which U has written (`spoken`), or which U has only read (`opened`).

local TOLD_MAX = 100

-- Tells conversations whether the user is online, and since when not. Returns how many.
local function tell_presence(is_online, at)
  local words = '","userId":"' .. args.userId .. '","online":' .. tostring(is_online) .. ',"at":' .. decimal(at)
    .. ',"version":' .. decimal(next_version(key.version)) .. '}'
  local count, seen = 0, {}
  for _, name in ipairs({key.spoken, key.opened}) do
    for _, id in ipairs(read('ZREVRANGE', name, 0, TOLD_MAX - 1)) do
      if not seen[id] and count < TOLD_MAX and #id <= 200 and string.find(id, '^[%w._~:-]+$') then
        later('show_presence', '{"conversationId":"' .. id .. words)
        count, seen[id] = count + 1, true
      end
    end
  end
  return count
end
