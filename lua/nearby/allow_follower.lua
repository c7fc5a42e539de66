-- @command  allow_follower
-- @summary  Let another see a listener also when only followers may.
-- @http     PUT /v1/followers/{followerId}
-- @allow    user|service
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
-- @errors   too_many
-- @cost     O(1)
-- @weight   250
-- @rate     30/60 s user
-- @idempotent
--
-- The listener says whom it lets follow, not the other way round: nobody makes himself a follower to see somebody.

local FOLLOWERS_MAX = 200

if #args.followerId > USER_BYTES_MAX then fail('bad_request', 'followerId must be the id of a user') end
local count = read('SCARD', key.followers)
if read('SISMEMBER', key.followers, args.followerId) == 0 then
  if count >= FOLLOWERS_MAX then fail('too_many', 'A listener has at most 200 followers') end
  count = count + 1
  write('SADD', key.followers, args.followerId)
end
later('set_sees', {
  userId = args.followerId, otherId = args.userId, sees = true, version = next_version(key.version),
})
settle_again()
return {followerId = args.followerId, allowed = true, count = count}
