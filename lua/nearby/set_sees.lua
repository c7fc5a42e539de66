-- @command  set_sees
-- @summary  Note whose follower a listener is: the other side of allow_follower and drop_follower.
-- @allow    worker
-- @arg      userId  id
-- @arg      otherId id
-- @arg      sees    bool
-- @key      sees    user:{userId}#sees
-- @returns  {count}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- Anybody may let anybody follow. So strangers could fill a shorter list, and keep out those who mean it.

local SEES_MAX = 10000 -- nobody can be made to hold more

local count = read('SCARD', key.sees)
local was = read('SISMEMBER', key.sees, args.otherId) == 1
if args.sees and not was and count < SEES_MAX then
  write('SADD', key.sees, args.otherId)
elseif not args.sees and was then
  write('SREM', key.sees, args.otherId)
end
return {count = count}
