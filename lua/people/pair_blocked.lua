-- @command  pair_blocked
-- @summary  Note where two users meet that one of them blocks the other.
-- @allow    worker
-- @arg      pairId  id -- the ids of the two, sorted, joined by _
-- @arg      byId    id -- who blocks
-- @arg      blocked bool
-- @include  pair
-- @key      blocks  pair:{pairId}#blocks
-- @returns  {blocked} -- whether one of the two blocks the other now
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- A script whose home is the pair's id reads the set, such as those of a direct conversation. It has at most two
-- members.

local one, other = users_of(args.pairId)
if args.byId ~= one and args.byId ~= other then fail('bad_request', 'The id is not that of this user and another') end
local mutual = read('SISMEMBER', key.blocks, args.byId == one and other or one) == 1
if args.blocked then write('SADD', key.blocks, args.byId) else write('SREM', key.blocks, args.byId) end
return {blocked = args.blocked or mutual}
