-- @command  set_sees
-- @summary  Note whose follower a listener is: the other side of allow_follower and drop_follower.
-- @allow    worker
-- @arg      userId  id
-- @arg      otherId id
-- @arg      sees    bool
-- @arg      version int 0..9007199254740991 optional -- of the other's home, when it said so
-- @include  version
-- @key      sees    user:{userId}#sees
-- @key      at      user:{userId}#sees_at
-- @calls    drop_follower
-- @returns  {count: int}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- Anybody may let anybody follow. So strangers could fill a shorter list, and keep out those who mean it.
--
-- user:U#sees_at is a zset userId -> the version of the last note, for an hour: an older one that comes later changes
-- nothing. A note from before the erasure of U (`*`) is taken back at the other's home.

local SEES_MAX = 10000 -- nobody can be made to hold more

local count = read('SCARD', key.sees)
local was = read('SISMEMBER', key.sees, args.otherId) == 1
local erased = number(read('ZSCORE', key.at, '*'))
if not is_newer(key.at, args.otherId, args.version) then return {count = count} end
if args.sees and erased and args.version and args.version <= erased then
  later('drop_follower', {userId = args.otherId, followerId = args.userId})
elseif args.sees and not was and count < SEES_MAX then
  write('SADD', key.sees, args.otherId)
elseif not args.sees and was then
  write('SREM', key.sees, args.otherId)
end
return {count = count}
