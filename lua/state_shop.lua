-- @summary  The state a client of a shop receives when it joins: the cached queue status.
-- @state    shop
-- @key      cache  queue:{id}
-- @returns  JSON text of one object, or false
-- @cost     O(n) in the bytes of the status
-- @weight   400
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   cache  string JSON, written by the worker, read by the API servers
--
-- The cache belongs to others: a wrong type, a text that is not a JSON object, or one beyond the limit is no state,
-- never an error. (The gateway checks the text again before it splices it into a frame: cjson also takes NaN.)

local STATE_BYTES_MAX = 65536

function state()
  local cached = redis.pcall('GET', KEYS[3])
  if type(cached) ~= 'string' or #cached > STATE_BYTES_MAX or not string.find(cached, '^%s*{') then return false end
  local parsed = pcall(cjson.decode, cached)
  return parsed and cached
end
