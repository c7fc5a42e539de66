-- @command  muted_by
-- @summary  Note at a user's home who mutes the user.
-- @allow    worker
-- @arg      userId   id -- who is muted
-- @arg      byId     id -- who mutes
-- @arg      muted    bool
-- @arg      version  int 0..9007199254740991 optional -- of the other home, when it said so
-- @include  version
-- @key      muters   user:{userId}#muters
-- @key      at       user:{userId}#muters_at
-- @returns  {count: int}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- The mute itself lies at the home of who mutes (mute.lua). The user is never told of it. Scripts read these notes
-- where the user's doings begin, so that who mutes the user is not told. Nobody can be made to hold more than
-- MUTERS_MAX.
--
-- user:U#muters_at is a zset userId -> the version of the last note (part_version.lua), for an hour: an older
-- one that comes later changes nothing.

local MUTERS_MAX = 10000

local count = read('SCARD', key.muters)
if not is_newer(key.at, args.byId, args.version) then return {count = count} end
if not args.muted then
  write('SREM', key.muters, args.byId)
elseif count < MUTERS_MAX then
  write('SADD', key.muters, args.byId)
end
return {count = count}
