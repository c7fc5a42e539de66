-- @command  erase_people
-- @summary  Forget whom a user blocks and mutes, and what the user's own topic has told.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @include  pair
-- @include  version
-- @key      blocks  user:{userId}#blocks
-- @key      mutes   user:{userId}#mutes
-- @key      version user:{userId}#version
-- @key      log     user:{userId}#log
-- @calls    blocked_by, muted_by, pair_blocked, erase_people
-- @returns  {erased, more}
-- @cost     O(n) in the blocks and mutes of one run, at most 25 each
-- @weight   2000
-- @idempotent
--
-- Who blocks or mutes the user is not the user's: that stays. Each run takes BATCH_MAX and calls itself for the
-- rest. The last one deletes the log of the user's topic: its events are of all packs.

local BATCH_MAX = 25

local user = args.userId
-- Takes some members out of a set, for good; returns those that are users.
local function take(name)
  local members, users = read('SRANDMEMBER', name, BATCH_MAX), {}
  if #members > 0 then write('SREM', name, unpack(members)) end
  for _, other in ipairs(members) do
    if is_id(other) then users[#users + 1] = other end
  end
  return users
end

local blocked, muted = take(key.blocks), take(key.mutes)
local version = #blocked + #muted > 0 and next_version(key.version, LATE_S)
for _, other in ipairs(blocked) do
  later('blocked_by', {userId = other, byId = user, blocked = false, version = version})
  local pair = pair_id(user, other)
  if pair then later('pair_blocked', {pairId = pair, byId = user, blocked = false, version = version}) end
end
for _, other in ipairs(muted) do later('muted_by', {userId = other, byId = user, muted = false, version = version}) end
local more = read('SCARD', key.blocks) > BATCH_MAX or read('SCARD', key.mutes) > BATCH_MAX
if more then later('erase_people', {userId = user}) else write('UNLINK', key.log) end
return {erased = #blocked + #muted, more = more}
