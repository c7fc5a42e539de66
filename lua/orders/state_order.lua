-- @summary  The state a client of an order receives when it joins: the newest event that names the order's status.
-- @state    order
-- @returns  {event: string, payload: object}
-- @cost     O(n) in the events looked at, at most 20
-- @weight   400
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[1]   log    stream of recent events
--
-- A client that joins late does not ask for events, and shows where the order stands all the same. Where none of the
-- newest events has a `status`, the newest one is told.

local LOOKED_MAX = 20
local PAYLOAD_BYTES_MAX = 65536

function state()
  local entries = redis.pcall('XREVRANGE', KEYS[1], '+', '-', 'COUNT', LOOKED_MAX)
  if type(entries) ~= 'table' or failed(entries) then return false end
  local newest = false
  for _, entry in ipairs(entries) do
    local event, payload = entry[2][2], entry[2][4]
    local is_whole = type(event) == 'string' and type(payload) == 'string' and #payload <= PAYLOAD_BYTES_MAX
    local is_read, value = pcall(cjson.decode, is_whole and string.find(event, '^[%w._:/-]+$') and payload or '')
    if is_read and type(value) == 'table' then
      local text = '{"event":"' .. event .. '","payload":' .. payload .. '}'
      if type(value.status) == 'string' then return text end
      newest = newest or text
    end
  end
  return newest
end
