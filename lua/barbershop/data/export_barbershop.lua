-- @command  export_barbershop
-- @summary  What the barbershops keep of a user, for the user's copy of all data.
-- @allow    worker
-- @exports
-- @arg      userId     user
-- @include  json
-- @key      inbox      user:{userId}#inbox
-- @key      unread     user:{userId}#unread
-- @key      follows    user:{userId}#follows
-- @key      places     user:{userId}#places
-- @key      online     user:{userId}#online
-- @key      visited    user:{userId}#visited
-- @key      bookings   user:{userId}#bookings
-- @key      challenges user:{userId}#challenges
-- @returns  {notifications: [{id: string, data?: object, *: string}], unread: int, follows: [string], places: [string],
--           lastSeen: string|null, visited: [string], bookings: [{shopId: string, bookingId: string}],
--           challenges: [string], more: bool}
-- @cost     O(n) in what is told, at most 8 notifications or 12 KiB, and 100 of each list or 3 KiB
-- @weight   2000
-- @readonly
--
-- `bookings` are {shopId, bookingId}. What the homes of others have is told by their own commands: `booking`, `rank`,
-- `my_votes`; `notifications` and `following` have what is beyond the bounds here.

local LISTED_MAX = 100
local NOTIFICATIONS_MAX = 8
local NOTIFICATION_BYTES_MAX = 12288
local LIST_BYTES_MAX = 3072 -- of one list: usual names of all of it

local more = false
local function ids(list, cut)
  local found, bytes = {}, 0
  for index, text in ipairs(list) do
    local id = string.sub(text, cut or 1)
    bytes = bytes + #id
    if index > LISTED_MAX or bytes > LIST_BYTES_MAX and #found > 0 then
      more = true
      break
    end
    if #id <= 205 and is_utf8(id) then found[#found + 1] = id end
  end
  return #found > 0 and raw(cjson.encode(found)) or array()
end

local function notifications()
  local told, bytes = array(), 0
  for _, entry in ipairs(read('XREVRANGE', key.inbox, '+', '-', 'COUNT', NOTIFICATIONS_MAX + 1)) do
    local fields, one = entry[2], {id = entry[1]}
    for index = 1, #fields, 2 do
      bytes = bytes + #fields[index + 1]
      if fields[index] == 'data' then
        one.data = stored(fields[index + 1])
      elseif is_utf8(fields[index + 1]) and is_utf8(fields[index]) then
        one[fields[index]] = fields[index + 1]
      end
    end
    if #told >= NOTIFICATIONS_MAX or bytes > NOTIFICATION_BYTES_MAX and #told > 0 then
      more = true
      break
    end
    told[#told + 1] = one
  end
  return told
end

local function bookings()
  local told, bytes = array(), 0
  for index, member in ipairs(read('ZREVRANGE', key.bookings, 0, LISTED_MAX)) do
    local shop, number_of = string.match(member, '^([%w._~:-]+) ([%w._~:-]+)$')
    bytes = bytes + #member
    if index > LISTED_MAX or bytes > 2 * LIST_BYTES_MAX and #told > 0 then
      more = true
      break
    end
    if shop then told[#told + 1] = {shopId = shop, bookingId = number_of} end
  end
  return told
end

local seen = integer(read('GET', key.online), 0, YEAR_9999_MS)
local answer = {
  notifications = notifications(), unread = read('SCARD', key.unread),
  follows = ids(read('SRANDMEMBER', key.follows, LISTED_MAX + 1), 6),
  places = ids(read('SRANDMEMBER', key.places, LISTED_MAX + 1)), lastSeen = seen and iso(seen) or null,
  visited = ids(read('ZREVRANGE', key.visited, 0, LISTED_MAX)), bookings = bookings(),
  challenges = ids(read('ZREVRANGE', key.challenges, 0, LISTED_MAX)),
}
answer.more = more
return answer
