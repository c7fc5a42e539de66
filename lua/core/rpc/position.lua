-- @summary  Read where a topic stands, and its state when it has one; creates nothing.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @returns  {epoch, offset, exists, length, state}: epoch empty, offset 0 and exists 0 when there is no position;
--           length in events; state JSON text or nil
-- @errors   BADARG, BADKEY
-- @cost     O(1)
-- @weight   50
--
-- KEYS[1]   log    stream of recent events
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3..] the keys of the namespace's @state or @subscribe script, when it has one
-- ARGV[2..] with @subscribe: now_ms, user, role and the topic's id
-- ARGV[1]   run    fence of the server (see is_whole); a position of another run is none

if #KEYS < 2 or #ARGV ~= 1 + own_arguments then
  return refuse('BADARG', 'position takes 2 keys or more and 1 argument')
end
if not is_run(ARGV[1]) then return refuse('BADARG', 'run is not 1...512 allowed bytes') end

local epoch, offset = read_position(KEYS[2], ARGV[1])
if not epoch then return offset or {'', '0', 0, 0, state and state() or false} end
local length = redis.pcall('XLEN', KEYS[1])
if failed(length) then return bad_key('log', length) end
return {epoch, decimal(offset), 1, length, state and state() or false}
