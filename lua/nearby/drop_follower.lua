-- @command  drop_follower
-- @summary  Let another see a listener no more when only followers may.
-- @http     DELETE /v1/followers/{followerId}
-- @allow    user|service|worker
-- @arg      userId     user
-- @arg      followerId id
-- @include  geo
-- @include  listener
-- @include  again
-- @include  version
-- @key      followers  user:{userId}#followers
-- @key      place      user:{userId}#place
-- @key      version    user:{userId}#version
-- @calls    set_sees, sync_listener
-- @returns  {followerId: string, allowed: bool, count: int}
-- @cost     O(1)
-- @weight   250
-- @rate     30/60 s user
-- @idempotent
--
-- Who saw the listener hears at once that it left.

local count = read('SCARD', key.followers)
if read('SISMEMBER', key.followers, args.followerId) == 1 then
  count = count - 1
  write('SREM', key.followers, args.followerId)
end
later('set_sees', {
  userId = args.followerId, otherId = args.userId, sees = false, version = next_version(key.version),
})
settle_again()
return {followerId = args.followerId, allowed = false, count = count}
