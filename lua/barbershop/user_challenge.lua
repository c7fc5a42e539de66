-- @command  user_challenge
-- @summary  Note that a user stands on a challenge's leaderboard, so that it is found when the user's data are erased.
-- @allow    worker
-- @arg      userId      id
-- @arg      challengeId id
-- @key      challenges  user:{userId}#challenges
-- @returns  {}
-- @cost     O(log n) in the user's challenges, at most 1000
-- @weight   100
-- @idempotent
--
-- user:U#challenges is a zset challenge -> when the user came onto its board, ms. A board has no end, and so has this;
-- beyond CHALLENGES_MAX the oldest are no longer noted.

local CHALLENGES_MAX = 1000

write('ZADD', key.challenges, decimal(now_ms), args.challengeId)
write('ZREMRANGEBYRANK', key.challenges, 0, -1 - CHALLENGES_MAX)
return {}
