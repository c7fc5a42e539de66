-- @command  free_token
-- @summary  Forget whose a device token is, once its user does not have it any more.
-- @allow    worker
-- @arg      tokenId     id
-- @arg      userId      id
-- @key      owner       token:{tokenId}#owner
-- @returns  {freed}
-- @cost     O(1)
-- @weight   100
-- @idempotent

local user = string.match(read('GET', key.owner) or '', '^(%S+) ')
if user ~= args.userId then return {freed = false} end
write('DEL', key.owner)
return {freed = true}
