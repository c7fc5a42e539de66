-- @command  block
-- @summary  Block another user: from now on neither hears the other.
-- @http     PUT /v1/users/{userId}/blocks/{other}
-- @allow    user|service
-- @arg      userId  user -- who blocks
-- @arg      other   id
-- @include  pair
-- @include  version
-- @key      blocks  user:{userId}#blocks
-- @key      version user:{userId}#version
-- @key      groups  user:{userId}#groups
-- @topic    user:{userId}
-- @calls    blocked_by, pair_blocked
-- @emits    block:changed {userId: string, blocked: bool} -- to the devices of who blocks; userId is the other
-- @returns  {userId: string, blocked: bool}
-- @errors   too_many
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @idempotent
--
-- user:U#blocks is a set of the users whom U blocks. Scripts of U's home read it. Two copies lie where others need
-- them: user:O#blockers, with those who block O, and pair:A_B#blocks, with those of the two who block the other. The
-- copies are made by the outbox, a moment later. A call for a block that is there makes the copies again.

local user, other = args.userId, args.other
if #other > USER_BYTES_MAX then fail('bad_request', 'A user has an id of at most 128 characters') end
if other == user then fail('bad_request', 'Nobody can block themselves') end
local is_new = read('SISMEMBER', key.blocks, other) == 0
if is_new then
  if read('SCARD', key.blocks) >= BLOCKS_MAX then
    fail('too_many', 'A user blocks at most ' .. BLOCKS_MAX .. ' others')
  end
  write('SADD', key.blocks, other)
  emit('user:' .. user, 'block:changed', {userId = other, blocked = true})
  charge(math.min(read('SCARD', key.groups), 1000)) -- the groups that may have to hear of it
end
local version = next_version(key.version)
later('blocked_by', {userId = other, byId = user, blocked = true, version = version})
local pair = pair_id(user, other)
if pair then later('pair_blocked', {pairId = pair, byId = user, blocked = true, version = version}) end
return {userId = other, blocked = true}
