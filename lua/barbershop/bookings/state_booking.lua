-- @summary  The state a client of a booking receives when it joins: the status last told.
-- @state    booking
-- @key      state  booking:{id}#state
-- @returns  {bookingId: string, shopId: string, status: status, estimatedCompletion?: string, scheduledAt?: string}
-- @cost     O(1)
-- @weight   50
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   state  string JSON, written by booking_changed.lua
--
-- A wrong type, or a text that is not a JSON object within the limit, is no state, never an error.

local STATE_BYTES_MAX = 4096

function state()
  local text = redis.pcall('GET', KEYS[3])
  if type(text) ~= 'string' or #text > STATE_BYTES_MAX or not string.find(text, '^%s*{') then return false end
  return pcall(cjson.decode, text) and text
end
