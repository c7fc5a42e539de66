-- @command  my_votes
-- @summary  How one user voted on the tracks that are queued.
-- @http     GET /v1/shops/{shopId}/dj/votes
-- @allow    user|service
-- @arg      shopId id
-- @arg      userId user -- whose votes
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      ballots dj:{shopId}#ballots#{userId}
-- @returns  {votes: {*: 'up'|'down'}} -- by the tracks' ids
-- @cost     O(n) in queued tracks, at most 500
-- @weight   1500
-- @readonly

local TAG_BYTES_MAX = 64
local WORDS = {u = 'up', d = 'down'}

local tag = read('HGET', key.ballots, '')
local tracks = tag and #tag <= TAG_BYTES_MAX and read('ZREVRANGE', key.order, 0, QUEUE_MAX - 1) or {}
local votes = {}
if #tracks > 0 then
  local ballots = read('HMGET', key.ballots, unpack(tracks))
  local tallies = read('HMGET', key.tally, unpack(tracks))
  local begin, sub, find = tag .. ' ', string.sub, string.find
  for index, track in ipairs(tracks) do
    local ballot, tally = ballots[index], tallies[index]
    local vote = ballot and tally and WORDS[sub(ballot, -1)]
    -- A ballot is for the tag and the number that the tally begins with; a track that has one was named by a caller.
    if vote and find(tally, begin .. sub(ballot, 1, -2) .. ' ', 1, true) == 1 then votes[track] = vote end
  end
end
return {votes = raw(cjson.encode(votes))}
