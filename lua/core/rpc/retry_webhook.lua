-- @summary  Have a receiver of webhooks told again from an event on that was given up.
-- @key      cursor  {topic}#hook#NAME
-- @key      lease   {topic}#hook-lease#NAME
-- @key      meta    {topic}#meta
-- @key      log     {topic}#log
-- @returns  1 when it will be told, 0 when the log has the event no longer
-- @errors   BADARG, BADKEY
-- @cost     O(log n) in the log
-- @weight   50
--
-- KEYS[1]   cursor  string: epoch and offset of the last event that is done, - when none is; the courier adds words
-- KEYS[2]   lease   string: the courier that has the topic in hand; it finds that it has lost the topic
-- KEYS[3]   meta    hash: epoch, offset
-- KEYS[4]   log     stream: OFFSET-0
-- ARGV[1]   epoch   of the event, 1...64 bytes
-- ARGV[2]   offset  of the event, 1...9007199254740991
--
-- The cursor goes back to before the event, so the order of the topic stays, and what follows is told again, too. It
-- never goes forward.

local CURSOR_MS = 2678400000 -- where the position has no end; otherwise a minute longer than it
local LONGER_MS = 60000

if #KEYS ~= 4 or #ARGV ~= 2 then return refuse('BADARG', 'retry_webhook takes 4 keys and 2 arguments') end
local epoch, offset = ARGV[1], integer(ARGV[2], 1, INTEGER_MAX)
if #epoch < 1 or #epoch > 64 or string.find(epoch, '%s') then return refuse('BADARG', 'epoch is none') end
if not offset then return refuse('BADARG', 'offset is not a number in range') end
local now_at = redis.pcall('HGET', KEYS[3], 'epoch')
if failed(now_at) then return bad_key('meta', now_at) end
if now_at ~= epoch then return 0 end
local there = redis.pcall('XRANGE', KEYS[4], decimal(offset) .. '-0', decimal(offset) .. '-0')
if failed(there) then return bad_key('log', there) end
if not there[1] then return 0 end
local cursor = redis.pcall('GET', KEYS[1])
if failed(cursor) then return bad_key('cursor', cursor) end

local known, done = string.match(cursor or '', '^(%S+) ([%d-]+)')
if known == epoch and (tonumber(done) or 0) < offset then return 1 end
local life = redis.call('PTTL', KEYS[3])
local put = redis.pcall(
  'SET', KEYS[1], epoch .. ' ' .. decimal(offset - 1), 'PX', decimal(life > 0 and life + LONGER_MS or CURSOR_MS))
if failed(put) then return put end
redis.call('DEL', KEYS[2])
return 1
