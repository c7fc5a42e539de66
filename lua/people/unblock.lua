-- @command  unblock
-- @summary  Block another user no longer.
-- @http     DELETE /v1/users/{userId}/blocks/{other}
-- @allow    user|service
-- @arg      userId  user -- who blocked
-- @arg      other   id
-- @include  pair
-- @include  version
-- @key      blocks  user:{userId}#blocks
-- @key      version user:{userId}#version
-- @key      groups  user:{userId}#groups
-- @topic    user:{userId}
-- @calls    blocked_by, pair_blocked
-- @emits    block:changed {userId: string, blocked: bool} -- to the devices of who blocked; userId is the other
-- @returns  {userId: string, blocked: bool}
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @idempotent

local user, other = args.userId, args.other
if read('SISMEMBER', key.blocks, other) == 1 then
  write('SREM', key.blocks, other)
  emit('user:' .. user, 'block:changed', {userId = other, blocked = false})
  charge(math.min(read('SCARD', key.groups), 1000)) -- the groups that may have to hear of it
  local version = next_version(key.version)
  later('blocked_by', {userId = other, byId = user, blocked = false, version = version})
  local pair = pair_id(user, other)
  if pair then later('pair_blocked', {pairId = pair, byId = user, blocked = false, version = version}) end
end
return {userId = other, blocked = false}
