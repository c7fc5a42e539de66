-- @summary  What a joining client is told: the position, the events it missed, and the topic's state, in one read.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, recovered, [{offset, event, data, id}], state}: recovered 0 or 1, state JSON text or nil
-- @errors   BADARG, BADKEY, BADEPOCH
-- @cost     O(n) in the events recovered, at most recovery_max
--
-- KEYS[1]   log    stream of recent events
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3..] the keys of state_<namespace>.lua, when the namespace has one
-- ARGV[1]   epoch         candidate: random, new for every call; used if a new epoch begins
-- ARGV[2]   run           run_id of the Redis process
-- ARGV[3]   now_ms        milliseconds since 1970 (for state providers)
-- ARGV[4]   meta_ttl_s    seconds an unused position is kept
-- ARGV[5]   since_epoch   epoch of the last event the client saw; empty when it joins afresh
-- ARGV[6]   since_offset  offset of that event: 1...19 digits; ignored when since_epoch is empty
-- ARGV[7]   recovery_max  events one recovery may return
--
-- A topic without a position gets one (offset 0), so that recovery works from before the first event and a flush in
-- between is noticed. Recovery is all or nothing: recovered is 1 only when the epoch is the same and every event
-- after since_offset is still in the log and they are at most recovery_max; otherwise there are no events.

if #KEYS < 2 or #ARGV ~= 7 then return refuse('BADARG', 'subscribe takes 2 keys or more and 7 arguments') end
local keys = {log = KEYS[1], meta = KEYS[2]}
local candidate, run, since_epoch, since_offset = ARGV[1], ARGV[2], ARGV[5], ARGV[6]
local now_ms = integer(ARGV[3], 0, INTEGER_MAX)
local meta_ttl_s = integer(ARGV[4], 1, TTL_SECONDS_MAX)
local recovery_max = integer(ARGV[7], 0, LOG_EVENTS_MAX)
if not is_epoch(candidate) then return refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
if not is_run(run) then return refuse('BADARG', 'run is not 1...64 allowed bytes') end
if not now_ms then return refuse('BADARG', 'now_ms is not a number in range') end
if not meta_ttl_s then return refuse('BADARG', 'meta_ttl_s is not a number in range') end
if not recovery_max then return refuse('BADARG', 'recovery_max is not a number in range') end
if since_epoch ~= '' then
  if not is_epoch(since_epoch) then return refuse('BADARG', 'since_epoch is not 1...32 allowed bytes') end
  if #since_offset > 19 or not string.find(since_offset, '^[0-9]+$') then
    return refuse('BADARG', 'since_offset is not 1...19 digits')
  end
end

-- The events after `since`, all of them or nil; nil, reply when the log cannot be read.
local function missed(epoch, offset)
  if since_epoch ~= epoch then return nil end
  local since = integer(since_offset, 0, offset) -- nil for the future and for what only looks like an offset
  if not since or offset - since > recovery_max then return nil end
  if since == offset then return {} end
  local events, wrong = read_log(keys.log, since + 1, offset, offset - since)
  if not events then return nil, wrong end
  -- Each event has its own offset between since + 1 and offset, so when the number is right none is missing.
  if #events ~= offset - since then return nil end
  return events
end

local epoch, offset, replaced = read_position(keys.meta, run)
if not epoch and offset then return offset end
local events
if epoch then
  local wrong
  events, wrong = missed(epoch, offset)
  if wrong then return wrong end
  -- Below half its life the position is renewed, so that a quiet topic with listeners keeps it and most joins
  -- stay plain reads.
  local left_s = redis.call('TTL', keys.meta)
  if left_s < meta_ttl_s / 2 then
    local renewed = redis.pcall('EXPIRE', keys.meta, meta_ttl_s)
    if failed(renewed) then return renewed end
  end
else
  local wrong = check_new_epoch(keys, candidate, replaced)
  if wrong then return wrong end
  wrong = begin_epoch(keys, candidate, '0', run, meta_ttl_s)
  if wrong then return wrong end
  epoch, offset = candidate, 0
end
return {epoch, decimal(offset), events and 1 or 0, events or {}, state and state() or false}
