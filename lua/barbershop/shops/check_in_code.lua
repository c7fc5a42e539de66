-- @command  check_in_code
-- @summary  The code that a shop shows now, for its guests to check in with.
-- @http     POST /v1/shops/{shopId}/presence/code
-- @allow    service
-- @arg      shopId   id
-- @include  code
-- @key      settings shop:{shopId}#settings
-- @returns  {code: string, validUntil: string}
-- @cost     O(1)
-- @weight   125
-- @random
--
-- The code is the first 16 hex digits of HMAC-SHA1(secret, number of the minute since 1970). It is good in its minute
-- and the one after. The shop's secret is made at the first call and never told.

local secret = read('HGET', key.settings, 'codeSecret')
if not secret or #secret < 32 or #secret > 64 then
  secret = random
  write('HSET', key.settings, 'codeSecret', secret)
end
local window = math.floor(now_ms / CODE_WINDOW_MS)
return {
  code = string.sub(hmac(secret, decimal(window)), 1, 16), validUntil = iso((window + 2) * CODE_WINDOW_MS),
}
