-- @command  forget_muted
-- @summary  Take a user who has been erased out of those whom another user mutes.
-- @allow    worker
-- @arg      userId  id -- who mutes
-- @arg      other   id -- who has been erased
-- @key      mutes   user:{userId}#mutes
-- @topic    user:{userId}
-- @emits    mute:changed {userId: string, muted: bool} -- to the devices of who muted; userId is the other
-- @returns  {muted: bool}
-- @cost     O(1)
-- @weight   150
-- @idempotent

if read('SISMEMBER', key.mutes, args.other) == 1 then
  write('SREM', key.mutes, args.other)
  emit('user:' .. args.userId, 'mute:changed', {userId = args.other, muted = false})
end
return {muted = false}
