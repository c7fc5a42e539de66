-- @summary  Take what a user's own topic has told of erased users and of texts that are gone out of its log.
-- @refresh  user:{userId}#forgotten
-- @arg      userId id
-- @coalesce 3000 ms
-- @key      forgotten user:{userId}#forgotten
-- @key      log       user:{userId}#log
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in the events looked at, at most 200
-- @weight   1800
--
-- user:U#forgotten has the users who have been erased and were listed in U's conversations, with the offset up to
-- which the log was searched for each. In the same way it has words of events (list_conversation.lua,
-- forget_preview.lua). Events that have one of them are deleted. A client that comes back to an offset before it is
-- told of a gap. The deleted events of a log are a hole for every reader (subscribe.lua). One search in three seconds
-- takes all words of that time: each goes through the whole log, and a user who corrects a message has all members'
-- logs searched.

local LOOKED_MAX = 200
local USERS_MAX = 20

local found = read('ZRANGE', key.forgotten, 0, USERS_MAX - 1, 'WITHSCORES')
local from = integer(found[2], 0, INTEGER_MAX)
if not from then return {idle = true} end
local names, searched = {}, {}
for index = 1, #found, 2 do
  names[#names + 1] = '"' .. found[index] .. '"'
  if integer(found[index + 1], 0, INTEGER_MAX) == from then searched[#searched + 1] = found[index] end
end
local entries = read('XRANGE', key.log, decimal(from) .. '-0', '+', 'COUNT', LOOKED_MAX)
local gone = {}
for _, entry in ipairs(entries) do
  local text = entry[2][2] ~= 'conversation:removed' and entry[2][4] or '' -- it has an id alone
  for _, name in ipairs(names) do
    if string.find(text, name, 1, true) then
      gone[#gone + 1] = entry[1]
      break
    end
  end
end
if #gone > 0 then write('XDEL', key.log, unpack(gone)) end
if #entries < LOOKED_MAX then
  write('ZREM', key.forgotten, unpack(searched))
  if read('ZCARD', key.forgotten) == #searched then return {idle = true} end
else
  local last = tonumber(string.match(entries[#entries][1], '^%d+')) + 1
  for _, user in ipairs(searched) do write('ZADD', key.forgotten, decimal(last), user) end
end
return {idle = false, again_ms = now_ms}
