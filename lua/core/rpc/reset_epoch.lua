-- @summary  Declare a topic's epoch over: whoever asks next begins a new one, and clients are told.
-- @key      meta  {topic}#meta
-- @returns  1: the epoch is over by this call; 2: a call in this life of Redis had ended it before; 0: there is no
--           position
-- @errors   BADARG, BADKEY
-- @cost     O(1)
-- @weight   50
--
-- KEYS[1]   meta     hash epoch, offset, run
-- ARGV[1]   channel  of the topic
-- ARGV[2]   life     run id of the Redis process
-- ARGV[3]   epoch    random, of no topic
-- ARGV[4]   mode     look: write nothing; reset: leave those alone that were reset in this life; again: reset them too
--
-- The stored run becomes one that no process has, so `read_position` takes the position for one that may have been
-- rolled back: the next publish, subscribe or repair begins a new epoch in its place and deletes its log. The new epoch
-- is not begun here, since only a gateway knows how long the namespace keeps a position.
--
-- Gateways with members learn of it by a message of an epoch that no log has: they read the log, find the new epoch and
-- tell the members. The message itself reaches nobody.

local RESET = 'reset' -- the run of no process: a run id has 40 digits

if #KEYS ~= 1 or #ARGV ~= 4 then return refuse('BADARG', 'reset_epoch takes 1 key and 4 arguments') end
local meta, channel, life, epoch, mode = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if channel == '' then return refuse('BADARG', 'channel is empty') end
if not is_run(life) then return refuse('BADARG', 'life is not 1...64 allowed bytes') end
if not is_epoch(epoch) then return refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
if mode ~= 'look' and mode ~= 'reset' and mode ~= 'again' then
  return refuse('BADARG', 'mode is none of look, reset, again')
end

local got = redis.pcall('HMGET', meta, 'epoch', 'offset', 'run', 'reset')
if failed(got) then return bad_key('meta', got) end
if not (got[1] and got[2]) then return 0 end
if mode ~= 'again' and got[4] == life then return 2 end
if mode == 'look' then return 1 end
local set = redis.pcall('HSET', meta, 'run', RESET, 'reset', life)
if failed(set) then return set end
-- Without the right to publish here the members are told with the next event instead.
redis.pcall(SEND, channel, inline.message(epoch, '1', 'epoch:reset', '-', '{}'))
return 1
