-- @part     pushes
-- @summary  Have something pushed to a user's devices, if the user has any. Needs the keys `devices` and `pushes`.
--
-- user:U#devices is there while U has a device (push/part_device.lua). user:U#pushes is a zset of what waits to be
-- pushed: `n:ID` for a notification, `c:ID` for a conversation, by the time from which it may go, ms. The refresh of
-- the pack `push` looks at it. What is there already keeps its time, so that it stays held as long as before.

local PUSHES_MAX = 100
local PUSHES_TTL_S = 172800
local PUSH_BYTES_MAX = 200

local function plan_push(member)
  if #member > PUSH_BYTES_MAX or read('EXISTS', key.devices) == 0 then return end
  local old = number(read('ZSCORE', key.pushes, member))
  local waiting = read('ZCARD', key.pushes)
  if not old and waiting >= PUSHES_MAX then write('ZREMRANGEBYRANK', key.pushes, 0, waiting - PUSHES_MAX) end
  -- A changed time tells the courier's answer that there is news which the push on its way does not have.
  write('ZADD', key.pushes, decimal(math.max(now_ms, old and math.floor(old) + 1 or 0)), member)
  write('EXPIRE', key.pushes, PUSHES_TTL_S)
end
