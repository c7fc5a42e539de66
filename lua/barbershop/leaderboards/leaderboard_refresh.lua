-- @summary  Tell whose rank or score in the top 100 changed since it was last told.
-- @refresh  leaderboard:{challengeId}
-- @arg      challengeId id
-- @coalesce 100 ms
-- @key      told  challenge:{challengeId}#top
-- @key      board leaderboard:{challengeId}
-- @topic    challenge:{challengeId}
-- @topic    user:*
-- @emits    leaderboard:moves {challengeId: string, moves: [{userId: string, rank: int, score: number|null}],
--            left: [string], updatedAt: string}
-- @emits    leaderboard:update {challengeId: string, rank: int,
--            score: number|null} -- on the topic of each user who moved
-- @returns  {idle: bool}
-- @cost     O(log n) in ranked users, and one outbox entry for each of at most 100 users who moved
-- @weight   2500
--
-- `told` is the JSON of what ZREVRANGE WITHSCORES last answered, member and score in turn. A board that is not
-- followed yet (no `told`, or none that can be read) is noted in silence; add_points.lua notes it before its change.
-- A board that is empty is forgotten after a day. Members follow top.lua: a long one is never told.

local EMPTY_TTL_S = 86400

-- The rank and score of each member of a flat list; nil when it is not what was written here.
local function standings(list)
  if type(list) ~= 'table' or #list % 2 ~= 0 or #list > 2 * TOLD_MAX then return nil end
  local by_member = {}
  for index = 1, #list, 2 do
    local member, score = list[index], list[index + 1]
    if type(member) ~= 'string' or type(score) ~= 'string' or not tonumber(score) then return nil end
    by_member[member] = {rank = (index + 1) / 2, score = tonumber(score)}
  end
  return by_member
end

local top = read('ZREVRANGE', key.board, 0, TOLD_MAX - 1, 'WITHSCORES')
local last = decode(read('GET', key.told))
local before, now = standings(last), standings(top)
local idle = {idle = #top == 0}
if not before and #top == 0 then return idle end

local moves, left = array(), array()
for index = 1, before and #top or 0, 2 do
  local member, is = top[index], now[top[index]]
  local was = before[member]
  if #member <= MEMBER_BYTES_MAX and not (was and was.rank == is.rank and was.score == is.score) then
    local score = shortest(is.score) and is.score or null
    moves[#moves + 1] = {userId = member, rank = is.rank, score = score}
    if is_id(member) then
      emit('user:' .. member, 'leaderboard:update', {challengeId = args.challengeId, rank = is.rank, score = score})
    end
  end
end
for index = 1, before and #last or 0, 2 do
  if not now[last[index]] and #last[index] <= MEMBER_BYTES_MAX then left[#left + 1] = last[index] end
end
if before and #moves == 0 and #left == 0 then return idle end

if #top > 0 then
  write('SET', key.told, cjson.encode(top))
else
  write('SET', key.told, '[]', 'EX', EMPTY_TTL_S)
end
if before then
  emit('challenge:' .. args.challengeId, 'leaderboard:moves', {
    challengeId = args.challengeId, moves = moves, left = left, updatedAt = iso(now_ms),
  })
end
return idle
