-- @command  free_token
-- @summary  Forget whose a device token is, once its user does not have it any more.
-- @allow    worker
-- @arg      tokenId     id
-- @arg      userId      id
-- @arg      version     int 0..9007199254740991 optional -- of the user's home, when it said so
-- @include  version
-- @key      owner       token:{tokenId}#owner
-- @key      freed       token:{tokenId}#freed
-- @returns  {freed: bool}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- A registration that is newer stands, also when it came before this. An older one that comes later counts no more.

local user, device, at = string.match(read('GET', key.owner) or '', '^(%S+) (%S+) (%d+)')
at = integer(at, 0, INTEGER_MAX)
if args.version then note_version(key.freed, args.userId, args.version) end
if user ~= args.userId or args.version and at and at > args.version then return {freed = false} end
if args.version and at then
  write('SET', key.owner, user .. ' ' .. device .. ' ' .. decimal(at) .. ' -', 'EX', LATE_S)
else
  write('DEL', key.owner)
end
return {freed = true}
