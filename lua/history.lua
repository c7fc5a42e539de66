-- @summary  Read a topic's logged events after an offset, oldest first.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, first, [{offset, event, data, id}]}: epoch empty and offset 0 when there is no position;
--           first is the oldest offset kept, 0 when the log is empty
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the events returned, at most limit
-- @weight   2000
--
-- KEYS[1]   log    stream of recent events
-- KEYS[2]   meta   hash epoch, offset, run
-- ARGV[1]   run    run_id of the Redis process; a position of another run is none
-- ARGV[2]   after  offset: 0...2^53-1; events with a greater offset are returned
-- ARGV[3]   limit  events, 1...1000000
--
-- Writes nothing. The caller compares the epoch with the one it knows: offsets mean nothing across epochs.

if #KEYS ~= 2 or #ARGV ~= 3 then return refuse('BADARG', 'history takes 2 keys and 3 arguments') end
local keys = {log = KEYS[1], meta = KEYS[2]}
local after = integer(ARGV[2], 0, INTEGER_MAX)
local limit = integer(ARGV[3], 1, LOG_EVENTS_MAX)
if not is_run(ARGV[1]) then return refuse('BADARG', 'run is not 1...64 allowed bytes') end
if not after then return refuse('BADARG', 'after is not a number in range') end
if not limit then return refuse('BADARG', 'limit is not a number in range') end

local epoch, offset = read_position(keys.meta, ARGV[1])
if not epoch then return offset or {'', '0', '0', {}} end

local oldest, wrong = read_log(keys.log, 0, offset, 1)
if not oldest then return wrong end
local events
events, wrong = read_log(keys.log, after + 1, offset, limit)
if not events then return wrong end
return {epoch, decimal(offset), oldest[1] and oldest[1][1] or '0', events}
