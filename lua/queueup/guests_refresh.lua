-- @summary  Have the votes of a listening session's guests taken back who have given no sign for ten minutes.
-- @refresh  session:{sessionId}#guests
-- @arg      sessionId id
-- @coalesce 1000 ms
-- @key      guests  session:{sessionId}#guests
-- @calls    withdraw_listener
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(log n) in guests, and O(m) in those who are no more there, at most 20 in one run
-- @weight   400

local BATCH_MAX = 20

local gone = read('ZRANGEBYSCORE', key.guests, '-inf', decimal(now_ms), 'LIMIT', 0, BATCH_MAX)
local rest = read('ZRANGEBYSCORE', key.guests, '(' .. decimal(now_ms), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if #gone > 0 then write('ZREM', key.guests, unpack(gone)) end
for _, user in ipairs(gone) do
  if is_id(user) then later('withdraw_listener', {sessionId = args.sessionId, userId = user}) end
end
if #gone == BATCH_MAX then return {idle = false, again_ms = now_ms} end
if #rest == 0 then return {idle = true} end
return {idle = false, again_ms = math.ceil(math.min(tonumber(rest[2]), now_ms + GUEST_MS))}
