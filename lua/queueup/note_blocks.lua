-- @command  note_blocks
-- @summary  Note in a listening session whom one of those who take part blocks.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @arg      blocks    ids 0..240 -- all whom the user blocks
-- @arg      version   int 0..9007199254740991 -- of the user's home
-- @include  session
-- @include  apart
-- @include  version
-- @key      session   session:{sessionId}#session
-- @key      people    session:{sessionId}#people
-- @key      apart     session:{sessionId}#apart
-- @key      apart_at  session:{sessionId}#apart_at
-- @returns  {noted: bool}
-- @cost     O(n) in the blocks, at most 240
-- @weight   1300
-- @idempotent
--
-- A user who comes in brings the blocks along (part_entering.lua); this is for changes meanwhile. Calls come in any
-- order: `apart_at` is a zset userId -> the version of the last one, for an hour. One that reads blocks of before the
-- user came in is followed by another. A user who has left since and is noted already is noted as well, since the
-- words of such a user stay; an erased user is not noted.

local session = open_session()
local is_known = read('HEXISTS', key.people, args.userId) == 1 or read('HEXISTS', key.apart, '>' .. args.userId) == 1
if not session or not is_known then return {noted = false} end
if not is_newer(key.apart_at, args.userId, args.version) then return {noted = false} end
keep_blocks(args.userId, args.blocks)
ends_with(session, key.apart)
return {noted = true}
