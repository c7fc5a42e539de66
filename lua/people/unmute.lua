-- @command  unmute
-- @summary  Mute another user no longer.
-- @http     DELETE /v1/users/{userId}/mutes/{other}
-- @allow    user|service
-- @arg      userId  user -- who muted
-- @arg      other   id
-- @include  version
-- @key      mutes   user:{userId}#mutes
-- @key      version user:{userId}#version
-- @topic    user:{userId}
-- @calls    muted_by
-- @emits    mute:changed {userId: string, muted: bool} -- to the devices of who muted; userId is the other
-- @returns  {userId: string, muted: bool}
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @idempotent

local user, other = args.userId, args.other
if read('SISMEMBER', key.mutes, other) == 1 then
  write('SREM', key.mutes, other)
  emit('user:' .. user, 'mute:changed', {userId = other, muted = false})
  local version = next_version(key.version)
  later('muted_by', {userId = other, byId = user, muted = false, version = version})
end
return {userId = other, muted = false}
