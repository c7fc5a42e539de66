-- @command  mute
-- @summary  Mute another user: what a muted user does shall not disturb.
-- @http     PUT /v1/users/{userId}/mutes/{other}
-- @allow    user|service
-- @arg      userId  user -- who mutes
-- @arg      other   id
-- @include  version
-- @key      mutes   user:{userId}#mutes
-- @key      version user:{userId}#version
-- @topic    user:{userId}
-- @calls    muted_by
-- @emits    mute:changed {userId: string, muted: bool} -- to the devices of who mutes; userId is the other
-- @returns  {userId: string, muted: bool}
-- @errors   too_many
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @idempotent
--
-- user:U#mutes is a set of the users whom U mutes. Scripts of U's home read it where they would call U's attention. A
-- copy, user:O#muters, lies at the other's home. No other user is told.

local user, other = args.userId, args.other
if #other > USER_BYTES_MAX then fail('bad_request', 'A user has an id of at most 128 characters') end
if other == user then fail('bad_request', 'Nobody can mute themselves') end
if read('SISMEMBER', key.mutes, other) == 0 then
  if read('SCARD', key.mutes) >= MUTES_MAX then fail('too_many', 'A user mutes at most ' .. MUTES_MAX .. ' others') end
  write('SADD', key.mutes, other)
  emit('user:' .. user, 'mute:changed', {userId = other, muted = true})
end
local version = next_version(key.version)
later('muted_by', {userId = other, byId = user, muted = true, version = version})
return {userId = other, muted = true}
