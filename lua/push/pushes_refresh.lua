-- @summary  Have what waits for a user's devices pushed, once the user has no live session.
-- @refresh  user:{userId}#pushes
-- @arg      userId id
-- @key      pushes  user:{userId}#pushes
-- @key      tries   user:{userId}#push_tries
-- @key      devices user:{userId}#devices
-- @key      call    user:{userId}#push_call
-- @key      online  user:{userId}#online
-- @key      awake   user:{userId}#awake
-- @calls    call_pushes
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(log n + m) in what waits, at most 100
-- @weight   400
--
-- A user has a live session while heartbeats come (beat_user.lua, beat_chats.lua). A gateway may take a dead connection
-- for a live one until a ping fails. So what waits is taken for shown only when heartbeats still come PROOF_MS later.
-- One call is on its way at a time, so that pushes keep their order, and the next waits for two seconds after its
-- answer. One that is lost is made again after CALL_MS.

local LIVE_MS = 45000  -- two heartbeats and a little
local PROOF_MS = 45000 -- longer than a ping and its answer in every dialect
local CALL_MS = 4200000 -- longer than calls wait for a courier (callSeconds)
local LOOKED_MAX = 100

local first = read('ZRANGE', key.pushes, 0, 0, 'WITHSCORES')
local due = number(first[2])
if not due then return {idle = true} end
if read('EXISTS', key.devices) == 0 then
  write('UNLINK', key.pushes, key.tries)
  return {idle = true}
end
if due > now_ms then return {idle = false, again_ms = due} end
local rest = read('PTTL', key.call)
if rest > 0 then return {idle = false, again_ms = now_ms + rest} end

local function seen_at(name)
  return math.min(integer(read('GET', name), 0, INTEGER_MAX) or 0, now_ms)
end
local seen = math.max(seen_at(key.online), seen_at(key.awake))
if now_ms - seen < LIVE_MS then
  local shown = read('ZRANGEBYSCORE', key.pushes, '-inf', decimal(seen - PROOF_MS), 'LIMIT', 0, LOOKED_MAX)
  if #shown > 0 then
    write('ZREM', key.pushes, unpack(shown))
    write('HDEL', key.tries, unpack(shown))
    if read('ZCARD', key.pushes) == #shown then return {idle = true} end
  end
  return {idle = false, again_ms = seen + LIVE_MS}
end
write('SET', key.call, decimal(now_ms), 'PX', CALL_MS)
later('call_pushes', {userId = args.userId, round = now_ms})
return {idle = false, again_ms = now_ms + CALL_MS}
