-- @summary  Put calls of commands into the outbox for a payer, all of them or none.
-- @key      stream  #outbox, #outbox:3 and so on
-- @key      payers  the same name with :payers
-- @key      wakes   #outbox
-- @returns  1 when they are there, 0 when the stream is full, -1 when the payer's part of it is
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the calls, at most 100
-- @weight   300
--
-- KEYS[1]   stream  stream of entries
-- KEYS[2]   payers  hash: payer -> how many entries of the stream are the payer's
-- KEYS[3]   wakes   the channel that wakes the worker
-- ARGV[1]   terms   what command.lua is told: the room of the stream, the payer's part of it or 0, and the payer
-- ARGV[2..] command, arguments of each call

local PUT_MAX = 100

local lane_max, payer_max, payer = string.match(ARGV[1] or '', '^(%d+) (%d+) (.*)$')
if #KEYS ~= 3 or not payer or #ARGV < 3 or #ARGV % 2 == 0 or #ARGV > 1 + 2 * PUT_MAX then
  return refuse('BADARG', 'outbox_put takes 3 keys, terms, and command and arguments of each of at most 100 calls')
end
local calls = (#ARGV - 1) / 2
local waiting = redis.pcall('XLEN', KEYS[1])
if failed(waiting) then return bad_key('stream', waiting) end
if waiting + calls > tonumber(lane_max) then return 0 end
if payer_max ~= '0' and waiting > 0 then
  local owed = redis.pcall('HGET', KEYS[2], payer)
  if failed(owed) then return bad_key('payers', owed) end
  if (tonumber(owed or '0') or 0) + calls > tonumber(payer_max) then return -1 end
end
for index = 2, #ARGV, 2 do
  local words = {'XADD', KEYS[1], '*', 'p', payer, 'c', ARGV[index], 'a', ARGV[index + 1]}
  local put = index == 2 and redis.pcall(unpack(words)) or redis.call(unpack(words))
  if failed(put) then return put end
end
if payer_max ~= '0' then
  if waiting == 0 then redis.call('DEL', KEYS[2]) end
  redis.call('HINCRBY', KEYS[2], payer, calls)
end
-- Without a right to it the worker finds the calls by itself, a moment later.
redis.pcall('PUBLISH', KEYS[3], KEYS[1])
return 1
