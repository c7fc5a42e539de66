-- @summary  Tell how much waits in streams of the outbox, and for how long.
-- @key      streams  #outbox, #outbox:next, #outbox:1 and so on, all of one slot
-- @returns  {entries, oldest}: oldest in ms since the oldest entry was put there, 0 without entries
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the streams, at most 64
-- @weight   150
--
-- KEYS[1]   streams  stream of entries; others of the slot may follow
--
-- The time is Redis's own, from which the ids of the entries are, too. An id of the future is no age.

if #KEYS == 0 or #KEYS > 64 or #ARGV ~= 0 then return refuse('BADARG', 'outbox_figures takes 1 to 64 keys') end
local entries, first_ms
entries = 0
for _, stream in ipairs(KEYS) do
  local waiting = redis.pcall('XLEN', stream)
  if failed(waiting) then return bad_key('a stream', waiting) end
  if waiting > 0 then
    entries = entries + waiting
    local id = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][1]
    local ms = tonumber(string.match(id, '^%d+'))
    if not first_ms or ms < first_ms then first_ms = ms end
  end
end
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
return {entries, first_ms and math.max(now_ms - first_ms, 0) or 0}
