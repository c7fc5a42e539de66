-- @summary  What joining clients, or a gateway that missed events, are told: position, logged events, and state.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, first, [{offset, event, data, id}], state}: first is the offset of the first event, 0
--           without any; state JSON text or nil
-- @errors   BADARG, BADKEY, BADEPOCH
-- @cost     O(n) in the events returned, at most events_max
-- @weight   1600
--
-- KEYS[1]   log    stream of recent events
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3..] the keys of the namespace's @state or @subscribe script, when it has one
-- ARGV[1]   epoch         candidate: random, new for every call; used if a new epoch begins
-- ARGV[2]   run           fence of the server the caller talks to (see is_whole)
-- ARGV[3]   top           "<epoch> <offset>" of the last event the gateway knows of, or empty
-- ARGV[4]   now_ms        milliseconds since 1970 (for state providers)
-- ARGV[5]   meta_ttl_s    seconds an unused position is kept once something was published
-- ARGV[6]   since_epoch   epoch of the last event seen; empty: no events are wanted
-- ARGV[7]   since_offset  offset of that event: 1...19 digits; ignored when since_epoch is empty
-- ARGV[8]   order         newest: the last events after since, down to the newest; oldest: the first ones the log has
-- ARGV[9]   events_max    events that may be returned
-- ARGV[10]  bytes_max     bytes of data they may have together, each counted 256 more; one is always returned
-- ARGV[11]  idle_ttl_s    seconds an unused position is kept under which nothing was published yet
-- ARGV[12]  before        offset: only events before it are wanted, the newest of them; 0: all of them
-- ARGV[13..] with @subscribe: now_ms, user, role and the topic's id
--
-- A topic without a position gets one (offset 0), so that recovery works from before the first event and a flush in
-- between is noticed. Anybody may join any name, so such a position lives for idle_ttl_s only. Gateways with members of
-- the topic renew it (renew.lua); once it is gone, the next join begins another epoch and is told so.
--
-- The events are always consecutive: with `newest` they end at offset, and whoever has seen what is before `first`
-- misses nothing; with `oldest` they begin where the log begins, and more may follow. A since of another epoch, or of
-- the future, gets none. One call is bounded, so that Redis serves others between two of them: what `newest` has left
-- out is read by further calls with `before`.

if #KEYS < 2 or #ARGV ~= 12 + own_arguments then
  return refuse('BADARG', 'subscribe takes 2 keys or more and 12 arguments')
end
local keys = {log = KEYS[1], meta = KEYS[2]}
local candidate, run, since_epoch, since_offset, order = ARGV[1], ARGV[2], ARGV[6], ARGV[7], ARGV[8]
local now_ms = integer(ARGV[4], 0, INTEGER_MAX)
local meta_ttl_s = integer(ARGV[5], 1, TTL_SECONDS_MAX)
local events_max = integer(ARGV[9], 0, LOG_EVENTS_MAX)
local bytes_max = integer(ARGV[10], 0, INTEGER_MAX)
local idle_ttl_s = integer(ARGV[11], 1, TTL_SECONDS_MAX)
local before = integer(ARGV[12], 0, INTEGER_MAX)
if not is_epoch(candidate) then return refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
if not is_run(run) then return refuse('BADARG', 'run is not 1...512 allowed bytes') end
if not now_ms then return refuse('BADARG', 'now_ms is not a number in range') end
if not meta_ttl_s then return refuse('BADARG', 'meta_ttl_s is not a number in range') end
if order ~= 'newest' and order ~= 'oldest' then return refuse('BADARG', 'order is neither newest nor oldest') end
if not events_max then return refuse('BADARG', 'events_max is not a number in range') end
if not bytes_max then return refuse('BADARG', 'bytes_max is not a number in range') end
if not idle_ttl_s then return refuse('BADARG', 'idle_ttl_s is not a number in range') end
if not before then return refuse('BADARG', 'before is not a number in range') end
if since_epoch ~= '' then
  if not is_epoch(since_epoch) then return refuse('BADARG', 'since_epoch is not 1...32 allowed bytes') end
  if #since_offset > 19 or not string.find(since_offset, '^[0-9]+$') then
    return refuse('BADARG', 'since_offset is not 1...19 digits')
  end
end

local CHUNK = 8 -- events read at once: the bound in bytes stops the reading, not what is returned only

-- The events of first...last that are asked for, oldest first; nil, reply when the log cannot be read.
local function consecutive(first, last)
  local backwards = order == 'newest'
  local events, bytes = {}, 0
  while first <= last and #events < events_max do
    local chunk, wrong = read_log(keys.log, first, last, math.min(CHUNK, events_max - #events), backwards)
    if not chunk then return nil, wrong end
    if #chunk == 0 then break end
    -- The log begins where it begins; from there on, nothing may be missing.
    if not backwards and #events == 0 then first = tonumber(chunk[1][1]) end
    for _, event in ipairs(chunk) do
      bytes = bytes + #event[3] + 256
      if (bytes > bytes_max and #events > 0) or tonumber(event[1]) ~= (backwards and last or first) then
        return events
      end
      events[#events + 1] = event
      if backwards then last = last - 1 else first = first + 1 end
    end
  end
  return events
end

local function reversed(list)
  local result = {}
  for index = #list, 1, -1 do result[#result + 1] = list[index] end
  return result
end

local epoch, offset, replaced = read_position(keys.meta, run, ARGV[3])
if not epoch and offset then return offset end
local events = {}
if epoch then
  local since = since_epoch == epoch and integer(since_offset, 0, offset)
  if since then
    local wrong
    events, wrong = consecutive(since + 1, before > 0 and math.min(offset, before - 1) or offset)
    if not events then return wrong end
    if order == 'newest' then events = reversed(events) end
  end
  -- Below half its life the position is renewed, so that a quiet topic with listeners keeps it and most joins
  -- stay plain reads.
  local life_s = offset == 0 and idle_ttl_s or meta_ttl_s
  if redis.call('TTL', keys.meta) < life_s / 2 then
    local renewed = redis.pcall('EXPIRE', keys.meta, life_s)
    if failed(renewed) then return renewed end
  end
else
  local wrong = check_new_epoch(keys, candidate, replaced)
  if wrong then return wrong end
  wrong = begin_epoch(keys, candidate, '0', run, idle_ttl_s, '0', now_ms)
  if wrong then return wrong end
  epoch, offset = candidate, 0
end
return {epoch, decimal(offset), events[1] and events[1][1] or '0', events, state and state() or false}
