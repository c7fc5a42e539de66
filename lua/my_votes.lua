-- @command  my_votes
-- @summary  How one user voted on the tracks that are queued.
-- @http     GET /v1/shops/{shopId}/dj/votes
-- @allow    user|service
-- @arg      shopId id
-- @arg      userId user -- whose votes
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      ballots dj:{shopId}#ballots#{userId}
-- @returns  {votes: {trackId: up|down}}
-- @cost     O(n) in queued tracks, at most 500
-- @weight   1500
-- @readonly

local QUEUE_MAX = 500

local tag = read('HGET', key.ballots, '')
local tracks = tag and read('ZREVRANGE', key.order, 0, QUEUE_MAX - 1) or {}
local votes = {}
if #tracks > 0 then
  local ballots = read('HMGET', key.ballots, unpack(tracks))
  local tallies = read('HMGET', key.tally, unpack(tracks))
  for index, track in ipairs(tracks) do
    local of, sequence = string.match(tallies[index] or '', '^(%x+) (%d+) ')
    if of == tag and ballots[index] == sequence .. 'u' then votes[track] = 'up' end
    if of == tag and ballots[index] == sequence .. 'd' then votes[track] = 'down' end
  end
end
return {votes = votes}
