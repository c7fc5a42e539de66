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
-- @weight   2000
-- @readonly

local QUEUE_MAX = 500
local TAG_BYTES_MAX = 64
local WORDS = {[string.byte('u')] = ':"up"', [string.byte('d')] = ':"down"'}

local tag = read('HGET', key.ballots, '')
local tracks = tag and #tag <= TAG_BYTES_MAX and read('ZREVRANGE', key.order, 0, QUEUE_MAX - 1) or {}
local items = {}
if #tracks > 0 then
  local ballots = read('HMGET', key.ballots, unpack(tracks))
  local tallies = read('HMGET', key.tally, unpack(tracks))
  for index, track in ipairs(tracks) do
    local ballot, tally = ballots[index], tallies[index]
    local vote = ballot and WORDS[string.byte(ballot, -1)]
    -- A ballot is for the tag and the number that the tally begins with; a track that has one was named by a caller.
    local begins = vote and tally and tag .. ' ' .. string.sub(ballot, 1, -2) .. ' '
    if begins and string.sub(tally, 1, #begins) == begins then items[#items + 1] = cjson.encode(track) .. vote end
  end
end
return {votes = raw('{' .. table.concat(items, ',') .. '}')}
