-- @command  shop_blocks
-- @summary  Note at a shop whom a user blocks who is there.
-- @allow    worker
-- @arg      shopId   id
-- @arg      userId   id
-- @arg      blocks   ids 0..240 -- all whom the user blocks; none once the user has left
-- @arg      version  int 0..9007199254740991 -- of the user's home
-- @include  apart
-- @include  version
-- @key      presence shop:{shopId}#presence
-- @key      apart    shop:{shopId}#apart
-- @key      apart_at shop:{shopId}#apart_at
-- @returns  {noted: bool}
-- @cost     O(n) in the blocks, at most 240
-- @weight   1000
-- @idempotent
--
-- `apart` is described in part_apart.lua. Calls come in any order: `apart_at` is a zset userId -> the version of
-- the last one, for an hour. An absent user blocks nobody there.

local APART_TTL_S = 172800 -- two days: nobody's presence is without a heartbeat for so long

if not is_newer(key.apart_at, args.userId, args.version) then return {noted = false} end
local is_there = (number(read('ZSCORE', key.presence, args.userId)) or 0) > now_ms
keep_blocks(args.userId, is_there and args.blocks or {})
write('EXPIRE', key.apart, APART_TTL_S)
return {noted = true}
