-- @command  around
-- @summary  A user's neighbours on a challenge's leaderboard, above and below, with the user between them.
-- @http     GET /v1/challenges/{challengeId}/users/{userId}/around
-- @allow    anonymous|user|service
-- @arg      challengeId id
-- @arg      userId      id
-- @arg      count       int 1..100 = 10 -- on each side
-- @include  rank
-- @key      board leaderboard:{challengeId}
-- @returns  {challengeId: string, userId: string, rank: int, around: [place]} -- rank is ZREVRANK + 1
-- @errors   not_found
-- @cost     O(log n + m) in ranked users and those told
-- @weight   1250
-- @readonly

local place = read('ZREVRANK', key.board, args.userId)
if not place then fail('not_found', 'The user is not on the leaderboard') end
local first = math.max(place - args.count, 0)
local found = read('ZREVRANGE', key.board, first, place + args.count, 'WITHSCORES')
return {challengeId = args.challengeId, userId = args.userId, rank = place + 1, around = places(first + 1, found)}
