-- @command  top
-- @summary  The first of a challenge's leaderboard.
-- @http     GET /v1/challenges/{challengeId}/leaderboard
-- @allow    anonymous|user|service
-- @arg      challengeId id
-- @arg      limit       int 1..1000 = 100
-- @arg      top         int 1..1000 optional -- the same as limit, and goes before it
-- @key      board leaderboard:{challengeId}
-- @returns  {challengeId, top: [{rank, userId, score}]} -- rank is ZREVRANK + 1
-- @cost     O(log n + m) in ranked users and those told
-- @weight   2000
-- @readonly
--
-- Other systems may rank what is no user: such a member is told as text when it is short, else its rank is left out.

local MEMBER_BYTES_MAX = 200

local pairs_read = read('ZREVRANGE', key.board, 0, (args.top or args.limit) - 1, 'WITHSCORES')
local list = array()
for index = 1, #pairs_read, 2 do
  local member, score = pairs_read[index], tonumber(pairs_read[index + 1])
  if #member <= MEMBER_BYTES_MAX then
    list[#list + 1] = {rank = (index + 1) / 2, userId = member, score = shortest(score) and score or null}
  end
end
return {challengeId = args.challengeId, top = list}
