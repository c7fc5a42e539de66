-- @command  unmute
-- @summary  Mute another user no longer.
-- @http     DELETE /v1/users/{userId}/mutes/{other}
-- @allow    user|service
-- @arg      userId  user -- who muted
-- @arg      other   id
-- @key      mutes   user:{userId}#mutes
-- @topic    user:{userId}
-- @calls    muted_by
-- @emits    mute:changed {userId, muted} -- to the devices of who muted; userId is the other
-- @returns  {userId, muted}
-- @cost     O(1)
-- @weight   250
-- @rate     60/60 s user
-- @idempotent

local user, other = args.userId, args.other
if read('SISMEMBER', key.mutes, other) == 1 then
  write('SREM', key.mutes, other)
  emit('user:' .. user, 'mute:changed', {userId = other, muted = false})
  later('muted_by', {userId = other, byId = user, muted = false})
end
return {userId = other, muted = false}
