-- @summary  Read a topic's logged events after an offset, oldest first.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, first, [{offset, event, data, id}], next}: epoch empty and offset 0 when there is no
--           position; first is the oldest offset kept, 0 when the log is empty; next is the `after` of the following
--           page, 0 when the page reaches the end
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the entries looked at, at most limit
-- @weight   1600
--
-- KEYS[1]   log        stream of recent events
-- KEYS[2]   meta       hash epoch, offset, run
-- ARGV[1]   run        fence of the server (see is_whole); a position of another run is none
-- ARGV[2]   after      offset: 0...2^53-1; events with a greater offset are returned
-- ARGV[3]   limit      entries looked at, 1...1000000
-- ARGV[4]   bytes_max  bytes of data the events may have together, each counted 256 more; one is always returned
--
-- Writes nothing. The caller compares the epoch with the one it knows: offsets mean nothing across epochs. A page has
-- fewer events than `limit` when its bytes are used up, or where other entries lie between them; only `next` tells
-- whether more follows.

if #KEYS ~= 2 or #ARGV ~= 4 then return refuse('BADARG', 'history takes 2 keys and 4 arguments') end
local keys = {log = KEYS[1], meta = KEYS[2]}
local after = integer(ARGV[2], 0, INTEGER_MAX)
local limit = integer(ARGV[3], 1, LOG_EVENTS_MAX)
local bytes_max = integer(ARGV[4], 0, INTEGER_MAX)
if not is_run(ARGV[1]) then return refuse('BADARG', 'run is not 1...512 allowed bytes') end
if not after then return refuse('BADARG', 'after is not a number in range') end
if not limit then return refuse('BADARG', 'limit is not a number in range') end
if not bytes_max then return refuse('BADARG', 'bytes_max is not a number in range') end

local CHUNK = 8 -- entries read at once: the bound in bytes stops the reading, not what is returned only

-- The events behind `from`, the offset behind which the following page begins, or 0; nil, reply when the log cannot be
-- read.
local function page(from, offset)
  local events, bytes, left = {}, 0, limit
  while from < offset do
    local found, last = read_log(keys.log, from + 1, offset, math.min(CHUNK, left))
    if not found then return nil, last end
    if not last then return events, 0 end
    for _, event in ipairs(found) do
      bytes = bytes + #event[3] + 256
      if bytes > bytes_max and #events > 0 then return events, tonumber(event[1]) - 1 end
      events[#events + 1] = event
    end
    from, left = last, left - math.min(CHUNK, left)
    if left == 0 then return events, from < offset and from or 0 end
  end
  return events, 0
end

local epoch, offset = read_position(keys.meta, ARGV[1])
if not epoch then return offset or {'', '0', '0', {}, '0'} end

local oldest, wrong = read_log(keys.log, 0, offset, 1)
if not oldest then return wrong end
local events, following = page(after, offset)
if not events then return following end
return {epoch, decimal(offset), oldest[1] and oldest[1][1] or '0', events, decimal(following)}
