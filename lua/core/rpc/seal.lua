-- @summary  Say whether positions of this run of Redis survive its next restart, and since when that is proven.
-- @key      sealed  #sealed
-- @key      meta    {topic}#meta
-- @returns  `-`: this run has lost its `+` for good; `?`: it never had one; or `+` and the generation, often empty
-- @errors   BADARG, BADKEY
-- @cost     O(1)
-- @weight   50
--
-- KEYS[1]   sealed   hash: run, weak (1 once the run has lost its `+`), since (the generation), at (the last beat, ms)
-- KEYS[2]   meta     of the topic whose last event the caller knows; absent where it knows none
-- ARGV[1]   run      run id of the Redis process
-- ARGV[2]   synced   1: every write is on disk before it is answered, 0: not
-- ARGV[3]   uptime   seconds that the process has run
-- ARGV[4]   gap_ms   how long Redis may have been away without a witness, 1...86400000
-- ARGV[5]   beat_ms  time between two beats, 1...86400000
-- ARGV[6]   witness  the run that the caller has seen through; `doubt`: it has seen a run without the `+`; `-`: neither
-- ARGV[7]   epoch    of the event that the caller knows; only with `meta`
-- ARGV[8]   offset   of that event
--
-- Two runs share their epochs when both have the `+` and the generation. A restart keeps the generation when nothing
-- speaks against it: the run before had its `+` to the end as far as anybody saw, the event that the caller knows is
-- there, and either the caller has seen that run through or its last beat is not older than gap_ms. The beat is in the
-- file with everything else. So a file that was frozen or put back is recognised by it when no process is left to tell.
--
-- Any doubt draws a new generation, the first 16 digits of the run in which it arose: no earlier position counts then.
-- Time is Redis's own: the beats of several machines need one clock.

local GENERATION = 16
local MS_MAX = 86400000

if #KEYS < 1 or #KEYS > 2 or #ARGV ~= 4 + 2 * #KEYS then
  return refuse('BADARG', 'seal takes 1 or 2 keys and 6 or 8 arguments')
end
local run, synced, witness = ARGV[1], ARGV[2] == '1', ARGV[6]
local uptime_s = integer(ARGV[3], 0, INTEGER_MAX)
local gap_ms, beat_ms = integer(ARGV[4], 1, MS_MAX), integer(ARGV[5], 1, MS_MAX)
if #run < GENERATION or not is_run(run) then return refuse('BADARG', 'run is not 16...512 allowed bytes') end
if not uptime_s or not gap_ms or not beat_ms then
  return refuse('BADARG', 'one of uptime, gap_ms, beat_ms is not a number in range')
end
local got = redis.pcall('HMGET', KEYS[1], 'run', 'weak', 'since', 'at')
if failed(got) then return bad_key('sealed', got) end
local is_known, is_weak, since, at_ms = got[1] == run, got[2] == '1', got[3] or '', integer(got[4], 0, INTEGER_MAX)
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

if not synced then
  if not is_known then return '?' end
  if is_weak then return '-' end
  local set = redis.pcall('HSET', KEYS[1], 'weak', '1')
  return failed(set) and set or '-'
end
if is_known and is_weak then return '-' end

-- The event that the caller knows is missing: the file ends before what was answered.
local is_doubtful = witness == 'doubt'
if KEYS[2] then
  local epoch, offset = unpack(redis.pcall('HMGET', KEYS[2], 'epoch', 'offset'))
  offset = integer(offset, 0, INTEGER_MAX)
  is_doubtful = is_doubtful or epoch ~= ARGV[7] or not offset or offset < (integer(ARGV[8], 0, INTEGER_MAX) or 0)
end
if not is_known and got[1] and not is_doubtful then
  local away_ms = now_ms - (uptime_s + 1) * 1000 - (at_ms or 0)
  is_doubtful = is_weak or witness ~= got[1] and (away_ms > gap_ms or away_ms < -gap_ms)
end
if is_doubtful then since = string.sub(run, 1, GENERATION) end

if not is_known or is_doubtful or not at_ms or now_ms - at_ms >= beat_ms or at_ms > now_ms then
  local set = redis.pcall('HSET', KEYS[1], 'run', run, 'weak', '', 'since', since, 'at', decimal(now_ms))
  -- In a run that is sealed already a beat that cannot be written changes nothing.
  if failed(set) and (not is_known or is_doubtful) then return set end
end
return '+' .. since
