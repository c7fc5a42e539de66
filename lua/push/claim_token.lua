-- @command  claim_token
-- @summary  Note whose a device token is. A token has one owner: who registered it last.
-- @allow    worker
-- @arg      tokenId     id -- SHA-1 of the token
-- @arg      userId      id
-- @arg      deviceId    id
-- @arg      at          time -- when it was registered
-- @key      owner       token:{tokenId}#owner
-- @calls    drop_token
-- @returns  {owner}
-- @cost     O(1)
-- @weight   150
-- @idempotent

local OWNER_TTL_S = 31622400
local YEAR_9999_MS = 253370764800000

local user, device, at = string.match(read('GET', key.owner) or '', '^(%S+) (%S+) (%d+)$')
at = integer(at, 0, YEAR_9999_MS)
local is_other = at and (user ~= args.userId or device ~= args.deviceId)
if is_other and at > args.at then
  later('drop_token', {userId = args.userId, deviceId = args.deviceId, tokenId = args.tokenId, at = args.at})
  return {owner = user}
end
if is_other and is_id(user) and is_id(device) then
  later('drop_token', {userId = user, deviceId = device, tokenId = args.tokenId, at = args.at})
end
write('SET', key.owner, args.userId .. ' ' .. args.deviceId .. ' ' .. decimal(args.at), 'EX', OWNER_TTL_S)
return {owner = args.userId}
