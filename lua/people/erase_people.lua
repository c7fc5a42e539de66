-- @command  erase_people
-- @summary  Forget whom a user blocks and mutes, who mutes the user, and what the user's own topic has told.
-- @allow    worker
-- @erases
-- @arg      userId  user
-- @include  pair
-- @include  version
-- @key      blocks  user:{userId}#blocks
-- @key      mutes   user:{userId}#mutes
-- @key      muters  user:{userId}#muters
-- @key      version user:{userId}#version
-- @key      log     user:{userId}#log
-- @topic    user:{userId}
-- @calls    blocked_by, muted_by, pair_blocked, forget_muted, erase_people
-- @emits    data:erased {userId: string} -- to the user's own devices: all that they show of the account is gone
-- @returns  {erased: int, more: bool}
-- @cost     O(n) in the blocks, mutes and muters of one run, at most 20 each
-- @weight   2000
-- @idempotent
--
-- Blocks of others stay: they protect from a user who comes back under this id. Each run takes BATCH_MAX and
-- calls itself for the rest. The last one deletes the log of the user's topic: its events are of all packs.

local BATCH_MAX = 20

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

local blocked, muted, muters = take(key.blocks), take(key.mutes), take(key.muters)
for _, other in ipairs(muters) do later('forget_muted', {userId = other, other = user}) end
local version = #blocked + #muted > 0 and next_version(key.version, LATE_S)
for _, other in ipairs(blocked) do
  later('blocked_by', {userId = other, byId = user, blocked = false, version = version})
  local pair = pair_id(user, other)
  if pair then later('pair_blocked', {pairId = pair, byId = user, blocked = false, version = version}) end
end
for _, other in ipairs(muted) do later('muted_by', {userId = other, byId = user, muted = false, version = version}) end
local more = math.max(read('SCARD', key.blocks), read('SCARD', key.mutes), read('SCARD', key.muters)) > BATCH_MAX
if more then
  later('erase_people', {userId = user})
else
  local last = read('XREVRANGE', key.log, '+', '-', 'COUNT', 1)[1]
  if not last or last[2][2] ~= 'data:erased' then
    write('UNLINK', key.log)
    -- A client that has everything would come back to a position that nothing follows, and go on showing it.
    if last then emit('user:' .. user, 'data:erased', {userId = user}) end
  end
end
return {erased = #blocked + #muted, more = more}
