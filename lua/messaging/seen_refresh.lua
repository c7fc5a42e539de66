-- @summary  Tell a user's conversations that the user has gone, when no heartbeat came for a while.
-- @refresh  user:{userId}#shown
-- @arg      userId id
-- @include  version
-- @key      awake  user:{userId}#awake
-- @key      shown  user:{userId}#shown
-- @key      spoken user:{userId}#spoken
-- @key      version user:{userId}#version
-- @calls    show_presence
-- @returns  {idle, again_ms}
-- @cost     O(n) in the conversations told, at most 100
-- @weight   1200

local ONLINE_MS = 65000 -- three heartbeats and a little
local TOLD_MAX = 100

if read('GET', key.shown) ~= '1' then return {idle = true} end
local last = integer(read('GET', key.awake), 0, INTEGER_MAX) or 0
if last > now_ms then last = now_ms end
if now_ms - last < ONLINE_MS then return {idle = false, again_ms = last + ONLINE_MS} end
write('DEL', key.shown)
local words = '","userId":"' .. args.userId .. '","online":false,"at":' .. decimal(last) .. ',"version":'
  .. decimal(next_version(key.version)) .. '}'
for _, id in ipairs(read('ZREVRANGE', key.spoken, 0, TOLD_MAX - 1)) do
  if #id <= 200 and string.find(id, '^[%w._~:-]+$') then
    later('show_presence', '{"conversationId":"' .. id .. words)
  end
end
return {idle = true}
