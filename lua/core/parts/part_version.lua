-- @part     version
-- @summary  The order of one home's decisions, for scripts that are called in any order.
--
-- The worker keeps the order between two calls of one payer only. So a call that another call may overtake carries a
-- version, which the home of the decision counts up. The called script keeps the version and ignores older ones.
--   TOPIC#version  string, the last version of this home. A version is 1000 times the time in ms, or one more than the
--                  last, so that it grows also when a clock goes back or the key is lost.
-- A key that notes the versions of others is a zset MEMBER -> version. It ends LATE_S after the last note, as long as
-- the worker remembers calls, and holds the newest LATE_MAX. Its member `*` notes an erasure of all members.

local VERSION_TTL_S = 2592000
local LATE_S = 3600
local LATE_MAX = 1000

-- The version that follows another one.
local function version_after(last)
  return math.min(math.max(last + 1, now_ms * 1000), INTEGER_MAX)
end

-- The next version of the home whose counter is the key `name`; the counter is kept for `life_s` seconds.
local function next_version(name, life_s)
  local version = version_after(integer(read('GET', name), 0, INTEGER_MAX - 1) or 0)
  write('SET', name, decimal(version), 'EX', life_s or VERSION_TTL_S)
  return version
end

-- Notes the version of a member in the zset `name`.
local function note_version(name, member, version)
  write('ZADD', name, 'GT', decimal(version), member)
  write('ZREMRANGEBYRANK', name, 0, -1 - LATE_MAX)
  write('EXPIRE', name, LATE_S)
end

-- Whether a version is newer than the last one of the member; notes it then. A call without a version is from a script
-- of before versions, and is done in the order of its arrival.
local function is_newer(name, member, version)
  if not version then return true end
  local last = number(read('ZSCORE', name, member))
  if last and last >= version then return false end
  note_version(name, member, version)
  return true
end
