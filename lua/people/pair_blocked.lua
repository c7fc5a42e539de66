-- @command  pair_blocked
-- @summary  Note where two users meet that one of them blocks the other.
-- @allow    worker
-- @arg      pairId  id -- the ids of the two, sorted, joined by _
-- @arg      byId    id -- who blocks
-- @arg      blocked bool
-- @arg      version int 0..9007199254740991 optional -- of the home of who blocks, when it said so
-- @include  pair
-- @include  version
-- @key      blocks  pair:{pairId}#blocks
-- @key      at      pair:{pairId}#blocks_at
-- @returns  {blocked: bool} -- whether one of the two blocks the other now
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- A script whose home is the pair's id reads the set, such as those of a direct conversation. It has at most two
-- members. pair:A_B#blocks_at is a zset userId -> the version of the last note, for an hour: an older one that comes
-- later changes nothing.

local one, other = users_of(args.pairId)
if args.byId ~= one and args.byId ~= other then fail('bad_request', 'The id is not that of this user and another') end
local mutual = read('SISMEMBER', key.blocks, args.byId == one and other or one) == 1
local blocked = read('SISMEMBER', key.blocks, args.byId) == 1
if is_newer(key.at, args.byId, args.version) then
  blocked = args.blocked
  if blocked then write('SADD', key.blocks, args.byId) else write('SREM', key.blocks, args.byId) end
end
return {blocked = blocked or mutual}
