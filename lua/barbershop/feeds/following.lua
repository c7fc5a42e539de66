-- @command  following
-- @summary  Whom a user follows.
-- @http     GET /v1/users/{userId}/follows
-- @allow    user|service
-- @arg      userId  user
-- @arg      after   id optional -- only barbers that come behind this one
-- @key      follows user:{userId}#follows
-- @returns  {barbers: [string], next: string|null} -- sorted; next is null behind the last page
-- @cost     O(n log n) in those followed, at most 1000
-- @weight   1500
-- @readonly
--
-- A page ends at PAGE_BYTES_MAX of names, which is all 1000 as names usually are; `next` is what to ask for as `after`.

local PAGE_BYTES_MAX = 24576

local after = args.after and 'feed:' .. args.after
local topics = read('SRANDMEMBER', key.follows, FOLLOWS_MAX)
table.sort(topics)
local barbers, bytes, more = {}, 0, false
for _, topic in ipairs(topics) do
  if not after or topic > after then
    local barber = #topic <= 205 and string.match(topic, '^feed:([%w._~:-]+)$')
    bytes = bytes + (barber and #barber or 0)
    more = bytes > PAGE_BYTES_MAX and #barbers > 0
    if more then break end
    if barber then barbers[#barbers + 1] = barber end
  end
end
return {
  barbers = #barbers > 0 and raw(cjson.encode(barbers)) or array(), next = more and barbers[#barbers] or null,
}
