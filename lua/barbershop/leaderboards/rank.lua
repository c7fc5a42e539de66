-- @command  rank
-- @summary  A user's rank and score on a challenge's leaderboard.
-- @http     GET /v1/challenges/{challengeId}/users/{userId}
-- @allow    anonymous|user|service
-- @arg      challengeId id
-- @arg      userId      id
-- @key      board leaderboard:{challengeId}
-- @returns  {challengeId: string, userId: string, rank: int,
--           score: number|null} -- ZREVRANK + 1; rank -1 and score null for who is not on it
-- @cost     O(log n) in ranked users
-- @weight   100
-- @readonly

local place = read('ZREVRANK', key.board, args.userId)
local score = place and tonumber(read('ZSCORE', key.board, args.userId))
return {
  challengeId = args.challengeId, userId = args.userId, rank = place and place + 1 or -1,
  score = score and shortest(score) and score or null, -- JSON has no infinity, which others may have stored
}
