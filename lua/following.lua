-- @command  following
-- @summary  Whom a user follows.
-- @http     GET /v1/users/{userId}/follows
-- @allow    user|service
-- @arg      userId  user
-- @key      follows user:{userId}#follows
-- @returns  {barbers: [barberId]} -- at most 1000, sorted
-- @cost     O(n log n) in those followed
-- @weight   1000
-- @readonly

local FOLLOWS_MAX = 1000 -- as in follow.lua

local barbers = array()
for _, topic in ipairs(read('SRANDMEMBER', key.follows, FOLLOWS_MAX)) do
  local barber = #topic <= 205 and string.match(topic, '^feed:([A-Za-z0-9._~:-]+)$')
  if barber then barbers[#barbers + 1] = barber end
end
table.sort(barbers)
return {barbers = barbers}
