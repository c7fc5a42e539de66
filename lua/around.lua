-- @command  around
-- @summary  A user's neighbours on a challenge's leaderboard, above and below, with the user between them.
-- @http     GET /v1/challenges/{challengeId}/users/{userId}/around
-- @allow    anonymous|user|service
-- @arg      challengeId id
-- @arg      userId      id
-- @arg      count       int 1..100 = 10 -- on each side
-- @key      board leaderboard:{challengeId}
-- @returns  {challengeId, userId, rank, around: [{rank, userId, score}]} -- rank is ZREVRANK + 1
-- @errors   not_found
-- @cost     O(log n + m) in ranked users and those told
-- @weight   1000
-- @readonly

local MEMBER_BYTES_MAX = 200 -- as in top.lua

local place = read('ZREVRANK', key.board, args.userId)
if not place then fail('not_found', 'The user is not on the leaderboard') end
local first = math.max(place - args.count, 0)
local pairs_read = read('ZREVRANGE', key.board, first, place + args.count, 'WITHSCORES')
local list = array()
for index = 1, #pairs_read, 2 do
  local member, score = pairs_read[index], tonumber(pairs_read[index + 1])
  if #member <= MEMBER_BYTES_MAX then
    list[#list + 1] = {rank = first + (index + 1) / 2, userId = member, score = shortest(score) and score or null}
  end
end
return {challengeId = args.challengeId, userId = args.userId, rank = place + 1, around = list}
