-- @command  unfollow
-- @summary  Let a user follow a barber no longer.
-- @http     DELETE /v1/users/{userId}/follows/{barberId}
-- @allow    user|service
-- @arg      barberId id
-- @arg      userId   user -- who follows
-- @key      follows user:{userId}#follows
-- @topic    user:{userId}
-- @emits    follows:changed {topic: string,
--            following: bool} -- when the user did follow; gateways then read the set again
-- @returns  {barberId: string, following: bool, count: int}
-- @cost     O(1)
-- @weight   150

local topic = 'feed:' .. args.barberId
local count = read('SCARD', key.follows)
if read('SISMEMBER', key.follows, topic) == 1 then
  count = count - 1
  write('SREM', key.follows, topic)
  emit('user:' .. args.userId, 'follows:changed', {topic = topic, following = false})
end
return {barberId = args.barberId, following = false, count = count}
