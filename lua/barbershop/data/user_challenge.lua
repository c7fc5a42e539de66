-- @command  user_challenge
-- @summary  Note that a user stands on a challenge's leaderboard, so that it is found when the user's data are erased.
-- @allow    worker
-- @arg      userId      id
-- @arg      challengeId id
-- @arg      at          time optional -- of the points
-- @key      challenges  user:{userId}#challenges
-- @key      erased      user:{userId}#erased
-- @calls    forget_score
-- @returns  {}
-- @cost     O(log n) in the user's challenges, at most 1000
-- @weight   100
-- @idempotent
--
-- user:U#challenges is a zset challenge -> when the user came onto its board, ms. A board has no end, and so has this;
-- beyond CHALLENGES_MAX the oldest are no longer noted.

local CHALLENGES_MAX = 1000

-- Points from before the user's erasure go with it.
if args.at and args.at * 1000 <= (integer(read('GET', key.erased), 0, INTEGER_MAX) or 0) then
  later('forget_score', {challengeId = args.challengeId, userId = args.userId})
  return {}
end
write('ZADD', key.challenges, decimal(now_ms), args.challengeId)
write('ZREMRANGEBYRANK', key.challenges, 0, -1 - CHALLENGES_MAX)
return {}
