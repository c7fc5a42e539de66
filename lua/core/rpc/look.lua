-- @summary  All that some keys of one id hold, for a script that decides at another id (@span NAME reads NAME).
-- @key      one     <what the headers say>
-- @returns  found   one text, as cmsgpack packs it: the server's time in microseconds, then name, type and contents
-- @errors   BADARG
-- @cost     O(n) in what the keys hold, at most 20,000 members of each
-- @weight   300
--
-- KEYS[1] one     and every further key of the id

local HELD_MAX = 20000

local READS = {
  string = {'STRLEN', 'GET'}, hash = {'HLEN', 'HGETALL'}, set = {'SCARD', 'SMEMBERS'},
  zset = {'ZCARD', 'ZRANGE', 0, -1, 'WITHSCORES'},
}

local time = redis.call('TIME')
local found = {time[1] .. string.format('%06d', time[2])}
for _, name in ipairs(KEYS) do
  local kind = redis.call('TYPE', name).ok
  local by = READS[kind]
  found[#found + 1], found[#found + 2], found[#found + 3] = name, kind, false
  if by then
    if kind ~= 'string' and redis.call(by[1], name) > HELD_MAX then
      return refuse('BADARG', name .. ' has too many members to be looked at')
    end
    found[#found] = redis.call(by[2], name, unpack(by, 3))
  end
end
return cmsgpack.pack(found)
