-- @command  presence_count
-- @summary  How many users are present at a shop.
-- @http     GET /v1/shops/{shopId}/presence
-- @allow    anonymous|user|service
-- @arg      shopId   id
-- @key      presence shop:{shopId}#presence
-- @returns  {shopId: string, count: int}
-- @cost     O(log n) in present users
-- @weight   75
-- @readonly

return {shopId = args.shopId, count = read('ZCOUNT', key.presence, '(' .. decimal(now_ms), '+inf')}
