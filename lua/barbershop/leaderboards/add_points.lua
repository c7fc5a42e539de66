-- @command  add_points
-- @summary  Add points to a user's score on a challenge's leaderboard and tell the new rank.
-- @http     POST /v1/challenges/{challengeId}/users/{userId}/points
-- @allow    service
-- @arg      challengeId id
-- @arg      userId      id
-- @arg      points      number -9007199254740991..9007199254740991 -- may be negative, may have a fraction
-- @key      told  challenge:{challengeId}#top
-- @key      board leaderboard:{challengeId}
-- @calls    user_challenge
-- @returns  {challengeId: string, userId: string, score: number, rank: int} -- rank is ZREVRANK + 1
-- @errors   conflict
-- @cost     O(log n) in ranked users; O(log n * log m) when m others have the same score
-- @weight   125
--
-- leaderboard_refresh.lua tells who moved, by comparing the board with `told`. A board that nobody follows yet is
-- noted here as it is before the points, so that this change is told and what stood there before is not.

-- Whether a member comes before another of the same score: the greater bytes do. (Lua compares by the locale.)
local function precedes(one, other)
  for place = 1, math.min(#one, #other) do
    local a, b = string.byte(one, place), string.byte(other, place)
    if a ~= b then return a > b end
  end
  return #one > #other
end

-- How many members come before a user who is not among those of that score. Ties are next to each other and sorted,
-- so the user's place among them is found by halving.
local function ahead(score, user)
  local text = string.format('%.17g', score)
  local low = read('ZCOUNT', key.board, '(' .. text, '+inf')
  local high = low + read('ZCOUNT', key.board, text, text)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if precedes(read('ZREVRANGE', key.board, middle, middle)[1], user) then low = middle + 1 else high = middle end
  end
  return low
end

local user = args.userId
local old = tonumber(read('ZSCORE', key.board, user))
local score = (old or 0) + args.points
if not (score >= -INTEGER_MAX and score <= INTEGER_MAX) then
  fail('conflict', 'The score would be beyond 2^53 - 1')
end

local rank
if old == score then
  rank = read('ZREVRANK', key.board, user) + 1
else
  rank = ahead(score, user) + 1
  if old and old > score then rank = rank - 1 end -- the user itself still stands before that place
end

if read('EXISTS', key.told) == 0 then
  local top = read('ZREVRANGE', key.board, 0, TOLD_MAX - 1, 'WITHSCORES')
  write('SET', key.told, #top > 0 and cjson.encode(top) or '[]')
elseif read('EXISTS', key.board) == 0 then
  write('PERSIST', key.told)
end
if not old then later('user_challenge', {userId = user, challengeId = args.challengeId, at = now_ms}) end
write('ZINCRBY', key.board, string.format('%.17g', args.points), user)
return {challengeId = args.challengeId, userId = user, score = score, rank = rank}
