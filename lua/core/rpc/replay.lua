-- @summary  The newest events of a topic since a time, for clients that ask by the clock for what they have missed.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, [{offset, event, data, id}]}: the events oldest first; epoch empty and offset 0 when there
--           is no position
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the entries looked at, at most limit
-- @weight   1200
--
-- KEYS[1]   log        stream of recent events
-- KEYS[2]   meta       hash epoch, offset, run
-- ARGV[1]   run        fence of the server (see is_whole); a position of another run is none
-- ARGV[2]   since_ms   milliseconds since 1970: events that were published then or later
-- ARGV[3]   limit      entries looked at, 1...25: the newest ones
-- ARGV[4]   bytes_max  bytes of data the events may have together, each counted 256 more; one is always returned
--
-- Writes nothing. The times are those of the gateways that published, whose clocks may differ a little, so each of the
-- entries is looked at by itself.

if #KEYS ~= 2 or #ARGV ~= 4 then return refuse('BADARG', 'replay takes 2 keys and 4 arguments') end
local since_ms = integer(ARGV[2], 0, INTEGER_MAX)
local left = integer(ARGV[3], 1, 25)
local bytes_max = integer(ARGV[4], 0, INTEGER_MAX)
if not is_run(ARGV[1]) then return refuse('BADARG', 'run is not 1...512 allowed bytes') end
if not since_ms then return refuse('BADARG', 'since_ms is not a number in range') end
if not left then return refuse('BADARG', 'limit is not a number in range') end
if not bytes_max then return refuse('BADARG', 'bytes_max is not a number in range') end

local CHUNK = 8 -- entries read at once: the bound in bytes stops the reading, not what is returned only

local epoch, offset = read_position(KEYS[2], ARGV[1])
if not epoch then return offset or {'', '0', {}} end

-- The events of an entry's kind that publish_event writes, newest first.
local events, bytes, last, ends = {}, 0, offset, false
while left > 0 and last > 0 and not ends do
  local entries = redis.pcall('XREVRANGE', KEYS[1], decimal(last) .. '-0', '-', 'COUNT', math.min(CHUNK, left))
  if failed(entries) then return bad_key('log', entries) end
  ends = true -- unless one of them is recent: then those before them may be as well
  for _, entry in ipairs(entries) do
    local id, fields = entry[1], entry[2]
    local is_event = #fields == 8 and fields[1] == 'e' and fields[3] == 'd' and fields[5] == 'i' and fields[7] == 't'
      and string.sub(id, -2) == '-0'
    local at = is_event and integer(fields[8], 0, INTEGER_MAX)
    if at and at >= since_ms then
      bytes = bytes + #fields[4] + 256
      if bytes > bytes_max and #events > 0 then
        left = 0
        break
      end
      ends = false
      events[#events + 1] = {string.sub(id, 1, -3), fields[2], fields[4], fields[6]}
    end
    last = (tonumber(string.match(id, '^%d+')) or 0) - 1
  end
  left = left - #entries
end
local oldest_first = {}
for index = #events, 1, -1 do oldest_first[#oldest_first + 1] = events[index] end
return {epoch, decimal(offset), oldest_first}
