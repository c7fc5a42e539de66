-- @summary  Renew the positions of topics that have members and no events, so that they outlive their short lives.
-- @key      meta  {topic}#meta
-- @returns  how many positions were renewed
-- @errors   BADARG
-- @cost     O(n) in the keys, at most 64
-- @weight   275
--
-- KEYS[1]   meta        hash epoch, offset, run; more of them may follow
-- ARGV[1]   idle_ttl_s  seconds an unused position without events is kept
--
-- A position that has gone stays gone: what is published next begins a new epoch and tells. One with events keeps its
-- own, longer life.

local KEYS_MAX = 64

if #KEYS < 1 or #KEYS > KEYS_MAX or #ARGV ~= 1 then
  return refuse('BADARG', 'renew takes 1 to 64 keys and 1 argument')
end
local idle_ttl_s = integer(ARGV[1], 1, TTL_SECONDS_MAX)
if not idle_ttl_s then return refuse('BADARG', 'idle_ttl_s is not a number in range') end

local renewed = 0
for _, meta in ipairs(KEYS) do
  if redis.pcall('HGET', meta, 'offset') == '0' then
    redis.call('EXPIRE', meta, idle_ttl_s)
    renewed = renewed + 1
  end
end
return renewed
