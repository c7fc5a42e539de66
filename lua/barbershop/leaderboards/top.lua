-- @command  top
-- @summary  The first of a challenge's leaderboard, by pages.
-- @http     GET /v1/challenges/{challengeId}/leaderboard
-- @allow    anonymous|user|service
-- @arg      challengeId id
-- @arg      limit       int 1..1000 = 100
-- @arg      top         int 1..1000 optional -- the same as limit, and goes before it
-- @arg      from        int 1..1000000000 = 1 -- the first rank that is told
-- @include  rank
-- @key      board leaderboard:{challengeId}
-- @returns  {challengeId: string, top: [place], next: int|null} -- rank is ZREVRANK + 1
-- @cost     O(log n + m) in ranked users and those told
-- @weight   1250
-- @readonly
--
-- A page has at most PAGE_MAX places, whatever the limit. `next` is the rank behind a full page, to be asked for as
-- `from`; null behind the last one.

local PAGE_MAX = 200

local count = math.min(args.top or args.limit, PAGE_MAX)
local found = read('ZREVRANGE', key.board, args.from - 1, args.from - 2 + count, 'WITHSCORES')
local is_full = #found == 2 * count
return {
  challengeId = args.challengeId, top = places(args.from, found), next = is_full and args.from + count or null,
}
