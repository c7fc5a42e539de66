-- @command   beat_chats
-- @summary   A user has a live connection: the user's conversations are told when it was not so before.
-- @allow     worker
-- @heartbeat 20 s
-- @arg       userId id
-- @include   version
-- @key       awake  user:{userId}#awake
-- @key       shown  user:{userId}#shown
-- @key       spoken user:{userId}#spoken
-- @key       version user:{userId}#version
-- @calls     show_presence
-- @returns   {told} -- to how many conversations
-- @cost      O(n) in the conversations told, at most 100
-- @weight    1500
-- @idempotent
--
-- user:U#awake is the time of the last heartbeat. user:U#shown is 1 while the conversations were told that the user is
-- online (seen_refresh.lua). Only those hear of it in which the user has written: nobody learns when a stranger is
-- there by writing to the stranger. Every gateway that has a session of the user beats.

local TOLD_MAX = 100
local TTL_S = 2592000

local last = integer(read('GET', key.awake), 0, INTEGER_MAX)
local shown = read('GET', key.shown)
if shown == '1' and last and last <= now_ms and now_ms - last < BEAT_LEAST_MS then return {told = 0} end
write('SET', key.awake, decimal(now_ms), 'EX', TTL_S)
if shown == '1' then return {told = 0} end
write('SET', key.shown, '1', 'EX', TTL_S)
local count = 0
local words = '","userId":"' .. args.userId .. '","online":true,"at":' .. decimal(now_ms) .. ',"version":'
  .. decimal(next_version(key.version)) .. '}'
for _, id in ipairs(read('ZREVRANGE', key.spoken, 0, TOLD_MAX - 1)) do
  if #id <= 200 and string.find(id, '^[%w._~:-]+$') then
    later('show_presence', '{"conversationId":"' .. id .. words)
    count = count + 1
  end
end
return {told = count}
