-- @summary  Tell a user's conversations that the user has gone: the last connection ended, or no heartbeat comes.
-- @refresh  user:{userId}#shown
-- @arg      userId id
-- @include  version
-- @include  awake
-- @key      awake   user:{userId}#awake
-- @key      leaving user:{userId}#leaving
-- @key      shown   user:{userId}#shown
-- @key      spoken  user:{userId}#spoken
-- @key      opened  user:{userId}#opened
-- @key      version user:{userId}#version
-- @calls    show_presence
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in the conversations told, at most 100
-- @weight   1200
--
-- A phone that changes its network is back within LEAVING_MS. A gateway that dies says nothing, so ONLINE_MS after the
-- last heartbeat the user has gone, too.

local LEAVING_MS = 3000 -- time from the end of the last connection until others are told

if read('GET', key.shown) ~= '1' then return {idle = true} end
local last = math.min(integer(read('GET', key.awake), 0, INTEGER_MAX) or 0, now_ms)
local leaving = integer(read('GET', key.leaving), 0, INTEGER_MAX)
local due = last + ONLINE_MS
if leaving then
  last = math.min(leaving, now_ms)
  due = math.min(due, last + LEAVING_MS)
end
if now_ms < due then return {idle = false, again_ms = due} end
write('DEL', key.shown)
write('DEL', key.leaving)
tell_presence(false, last)
return {idle = true}
