-- @command  follow
-- @summary  Let a user follow a barber: the user's live sessions get the barber's posts from now on.
-- @http     PUT /v1/users/{userId}/follows/{barberId}
-- @allow    user|service
-- @arg      barberId id
-- @arg      userId   user -- who follows
-- @key      follows  user:{userId}#follows
-- @key      blocks   user:{userId}#blocks
-- @key      blockers user:{userId}#blockers
-- @topic    user:{userId}
-- @emits    follows:changed {topic: string, following: bool} -- when it is new; gateways then read the set again
-- @returns  {barberId: string, following: bool, count: int}
-- @errors   forbidden, too_many
-- @cost     O(1)
-- @weight   150
--
-- A block of either ends the following (part_unfollowing.lua) and forbids another.

if read('SISMEMBER', key.blocks, args.barberId) == 1 or read('SISMEMBER', key.blockers, args.barberId) == 1 then
  fail('forbidden', 'This barber cannot be followed')
end
local topic = 'feed:' .. args.barberId
local count = read('SCARD', key.follows)
if read('SISMEMBER', key.follows, topic) == 0 then
  if count >= FOLLOWS_MAX then fail('too_many', 'A user follows at most 1000') end
  count = count + 1
  write('SADD', key.follows, topic)
  emit('user:' .. args.userId, 'follows:changed', {topic = topic, following = true})
end
return {barberId = args.barberId, following = true, count = count}
