-- @command  blocked_by
-- @summary  Note at a user's home who blocks the user.
-- @allow    worker
-- @arg      userId   id -- who is blocked
-- @arg      byId     id -- who blocks
-- @arg      blocked  bool
-- @key      blockers user:{userId}#blockers
-- @returns  {count}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- The block itself lies at the home of who blocks (block.lua). The user is never told of it. Nobody can be made to
-- hold more than BLOCKERS_MAX of these notes; a block beyond that still holds on the side of who blocks.

local BLOCKERS_MAX = 10000

local count = read('SCARD', key.blockers)
if not args.blocked then
  write('SREM', key.blockers, args.byId)
elseif count < BLOCKERS_MAX then
  write('SADD', key.blockers, args.byId)
end
return {count = count}
