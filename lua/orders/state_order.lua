-- @summary  The state a client of an order receives when it joins: the newest event that names the order's status.
-- @state    order
-- @returns  {event: string, payload: object}
-- @cost     O(n) in the events looked at, at most 20 or 64 KiB of them
-- @weight   1300
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[1]   log    stream of recent events
--
-- A client that joins late does not ask for events, and shows where the order stands all the same. Where none of the
-- newest events has a `status`, the newest one is told. A long payload takes Redis milliseconds to parse, so of those
-- that PARSED_BYTES_MAX leaves out the words alone are looked at. (The gateway checks every state.)

local LOOKED_MAX = 20
local LOOKED_BYTES_MAX = 65536
local PARSED_BYTES_MAX = 16384
local PAYLOAD_BYTES_MAX = 65536
local STEP = 2 -- events that are read at once

local parsed = 0

-- Whether a payload is an object, and whether that has a status.
local function object_of(payload)
  if string.byte(payload) ~= 123 or string.byte(payload, -1) ~= 125 then return false, false end
  local names_status = string.find(payload, '"status"', 1, true) ~= nil
  parsed = parsed + #payload
  if parsed > PARSED_BYTES_MAX then
    return true, names_status and string.find(payload, '"status"%s*:%s*"') ~= nil
  end
  local is_read, value = pcall(cjson.decode, payload)
  return is_read and type(value) == 'table', is_read and type(value) == 'table' and type(value.status) == 'string'
end

function state()
  local newest, looked, from = false, 0, '+'
  for _ = 1, LOOKED_MAX / STEP do
    local entries = redis.pcall('XREVRANGE', KEYS[1], from, '-', 'COUNT', STEP)
    if type(entries) ~= 'table' or failed(entries) then return false end
    for _, entry in ipairs(entries) do
      local event, payload = entry[2][2], entry[2][4]
      looked = looked + #(payload or '')
      if type(event) == 'string' and type(payload) == 'string' and #payload <= PAYLOAD_BYTES_MAX
        and string.find(event, '^[%w._:/-]+$') then
        local is_object, has_status = object_of(payload)
        if has_status or is_object and not newest then
          newest = '{"event":"' .. event .. '","payload":' .. payload .. '}'
          if has_status then return newest end
        end
      end
    end
    if #entries < STEP or looked >= LOOKED_BYTES_MAX then break end
    from = '(' .. entries[STEP][1]
  end
  return newest
end
