-- @command  order_pass
-- @summary  Make an order's secret: a token by which whoever bears it may listen to this order, and to nothing else.
-- @http     POST /v1/orders/{orderId}/pass 201
-- @allow    service
-- @arg      orderId id
-- @topic    order:{orderId}
-- @mint     order:{orderId} 7 d
-- @returns  {token: string, topic: string, tokenId: string,
--           expiresAt: string} -- POST /v1/revocations takes the tokenId
-- @cost     O(1)
-- @weight   100
-- @random
--
-- The secret is nobody's account, so it needs no membership and is kept nowhere. A client shows it as its access token.

local PASS_MS = 604800000 -- as @mint says

mint('guest')
return {topic = 'order:' .. args.orderId, tokenId = 'm-' .. random, expiresAt = iso(now_ms + PASS_MS)}
