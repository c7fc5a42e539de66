-- @command  claim_token
-- @summary  Note whose a device token is. A token has one owner: who registered it last.
-- @allow    worker
-- @arg      tokenId     id -- SHA-1 of the token
-- @arg      userId      id
-- @arg      deviceId    id
-- @arg      at          int 0..9007199254740991 -- the version of the registration
-- @include  version
-- @key      owner       token:{tokenId}#owner
-- @key      freed       token:{tokenId}#freed
-- @calls    drop_token
-- @returns  {owner: string}
-- @cost     O(1)
-- @weight   150
-- @idempotent
--
-- Registrations come in any order, and so do the words that a user has the token no more (free_token.lua). So the last
-- owner stays noted for an hour after it, and an older registration of another user gives the token to nobody.

local OWNER_TTL_S = 31622400

local text = read('GET', key.owner) or ''
local user, device, at, gone = string.match(text, '^(%S+) (%S+) (%d+)( ?%-?)$')
at = integer(at, 0, INTEGER_MAX)
local is_other = at and (user ~= args.userId or device ~= args.deviceId)
if is_other and at > args.at then
  later('drop_token', {userId = args.userId, deviceId = args.deviceId, tokenId = args.tokenId, at = args.at})
  return {owner = user}
end
if at and not is_other and at > args.at then return {owner = user} end
if is_other and gone == '' and is_id(user) and is_id(device) then
  later('drop_token', {userId = user, deviceId = device, tokenId = args.tokenId, at = args.at})
end
local freed = number(read('ZSCORE', key.freed, args.userId))
local is_gone = freed ~= nil and freed >= args.at
write('SET', key.owner, args.userId .. ' ' .. args.deviceId .. ' ' .. decimal(args.at) .. (is_gone and ' -' or ''),
  'EX', is_gone and LATE_S or OWNER_TTL_S)
return {owner = args.userId}
