-- @summary  Read who is here on a topic.
-- @key      here  {topic}#here
-- @returns  {epoch, version, [id, member, ...]}: an empty epoch and 0 when there is no set
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the members, at most presenceMembersMax
-- @weight   1800
--
-- KEYS[1]   here      hash of here_change.lua
-- ARGV[1]   max       more members than these are an error, 1...100000
--
-- Writes nothing.

if #KEYS ~= 1 or #ARGV ~= 1 then return refuse('BADARG', 'here_read takes 1 key and 1 argument') end
local max = integer(ARGV[1], 1, 100000)
if not max then return refuse('BADARG', 'max is not a number in range') end

local size = redis.pcall('HLEN', KEYS[1])
if failed(size) then return bad_key('here', size) end
if size > max + 1 then return refuse('BADKEY', 'here holds more members than a topic may have') end
local found = redis.call('HGETALL', KEYS[1])
local epoch, version = '', '0'
-- The version stands anywhere; the last pair takes its place.
for index = 1, #found, 2 do
  if found[index] == '#' then
    epoch, version = string.match(found[index + 1], '^([%w_-]+) (%d+)$')
    found[index], found[index + 1] = found[#found - 1], found[#found]
    found[#found] = nil
    found[#found] = nil
    break
  end
end
return {epoch or '', version or '0', found}
