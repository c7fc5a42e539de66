-- @command  blocked_by
-- @summary  Note at a user's home who blocks the user.
-- @allow    worker
-- @arg      userId   id -- who is blocked
-- @arg      byId     id -- who blocks
-- @arg      blocked  bool
-- @arg      version  int 0..9007199254740991 optional -- of the other home, when it said so
-- @include  version
-- @key      blockers user:{userId}#blockers
-- @key      at       user:{userId}#blockers_at
-- @returns  {count: int}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- The block itself lies at the home of who blocks (block.lua). The user is never told of it. Nobody can be made to
-- hold more than BLOCKERS_MAX of these notes; a block beyond that still holds on the side of who blocks.
--
-- user:U#blockers_at is a zset userId -> the version of the last note (part_version.lua), for an hour: an older
-- one that comes later changes nothing.

local BLOCKERS_MAX = 10000

local count = read('SCARD', key.blockers)
if not is_newer(key.at, args.byId, args.version) then return {count = count} end
if not args.blocked then
  write('SREM', key.blockers, args.byId)
elseif count < BLOCKERS_MAX then
  write('SADD', key.blockers, args.byId)
end
return {count = count}
