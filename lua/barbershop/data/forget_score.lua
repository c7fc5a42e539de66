-- @command  forget_score
-- @summary  Take a user off a challenge's leaderboard, for good.
-- @allow    worker
-- @arg      challengeId id
-- @arg      userId      id
-- @key      board leaderboard:{challengeId}
-- @returns  {}
-- @cost     O(log n) in ranked users
-- @weight   75
-- @idempotent
--
-- leaderboard_refresh.lua sees that the user has left, and tells it.

write('ZREM', key.board, args.userId)
return {}
