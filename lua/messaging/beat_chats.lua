-- @command   beat_chats
-- @summary   A user has a live connection, or has it no more: the user's conversations are told when it changes.
-- @allow     worker
-- @heartbeat 20 s
-- @arg       userId id
-- @arg       by     id optional -- the gateway's shard that has the connection
-- @arg       gone   bool optional -- it was the user's last connection there
-- @include   version
-- @include   awake
-- @key       awake   user:{userId}#awake
-- @key       beats   user:{userId}#beats
-- @key       leaving user:{userId}#leaving
-- @key       shown   user:{userId}#shown
-- @key       spoken  user:{userId}#spoken
-- @key       opened  user:{userId}#opened
-- @key       version user:{userId}#version
-- @calls     show_presence
-- @returns   {told: int} -- to how many conversations
-- @cost      O(n) in the conversations told, at most 100
-- @weight    1500
-- @idempotent
--
-- Only those hear of a user in whose conversations the user has written or read: nobody learns when a stranger is there
-- by writing to the stranger. Every shard that has a session of the user beats. When the last of them has none any
-- more, seen_refresh.lua tells it a moment later, unless the user has come back.

local TTL_S = 2592000
local SHARDS_MAX = 64 -- shards that are remembered; a user has few devices
local SHARDS_S = 300

-- Whether a time is one of the last `ms`.
local function is_within(time, ms)
  return time ~= nil and time <= now_ms and now_ms - time < ms
end

if args.gone and args.by then
  local beats = read('HLEN', key.beats) <= SHARDS_MAX and read('HGETALL', key.beats) or {}
  local is_elsewhere = false
  for index = 1, #beats, 2 do
    is_elsewhere = is_elsewhere
      or beats[index] ~= args.by and is_within(integer(beats[index + 1], 0, INTEGER_MAX), ONLINE_MS)
  end
  write('HDEL', key.beats, args.by)
  if not is_elsewhere and read('GET', key.shown) == '1' then
    write('SET', key.leaving, decimal(now_ms), 'EX', SHARDS_S)
    -- The change makes seen_refresh.lua run.
    write('SET', key.shown, '1', 'EX', TTL_S)
  end
  return {told = 0}
end

local shown, is_leaving = read('GET', key.shown), read('EXISTS', key.leaving) == 1
local own = args.by and integer(read('HGET', key.beats, args.by), 0, INTEGER_MAX) or nil
local is_known = is_within(integer(read('GET', key.awake), 0, INTEGER_MAX), BEAT_LEAST_MS)
if shown == '1' and not is_leaving and is_known and (not args.by or is_within(own, BEAT_LEAST_MS)) then
  return {told = 0}
end
write('SET', key.awake, decimal(now_ms), 'EX', TTL_S)
if args.by then
  if read('HLEN', key.beats) >= SHARDS_MAX then write('DEL', key.beats) end
  write('HSET', key.beats, args.by, decimal(now_ms))
  write('EXPIRE', key.beats, SHARDS_S)
end
if is_leaving then write('DEL', key.leaving) end
if shown == '1' then return {told = 0} end
write('SET', key.shown, '1', 'EX', TTL_S)
return {told = tell_presence(true, now_ms)}
