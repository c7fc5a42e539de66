-- @command  vote
-- @summary  Cast, change or withdraw one user's vote on a queued track; one user, one vote.
-- @http     POST /v1/shops/{shopId}/tracks/{trackId}/vote
-- @allow    user|service
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @arg      vote    enum up,down,none
-- @arg      userId  user -- who votes
-- @include  voters
-- @key      tally    dj:{shopId}#tally
-- @key      order    dj:{shopId}#order
-- @key      ballots  dj:{shopId}#ballots#{userId}
-- @key      voters   dj:{shopId}#voters
-- @key      presence shop:{shopId}#presence
-- @topic    dj:{shopId}
-- @emits    queue:update standing
-- @returns  standing
-- @errors   not_present 403, not_found
-- @cost     O(log n) in queued tracks
-- @weight   350
--
-- The same vote again changes nothing, sends nothing, and is answered with what stands. The data is described in
-- add_track.lua. A track is queued exactly while it has a tally, so the session itself need not be read.

local user, track = args.userId, args.trackId
if tonumber(read('ZSCORE', key.presence, user) or 0) <= now_ms then fail('not_present', 'Must be at shop to vote') end
local tag, sequence, up, down = string.match(read('HGET', key.tally, track) or '', '^(%x+) (%d+) (%d+) (%d+)$')
up, down = integer(up, 0, VOTES_MAX), integer(down, 0, VOTES_MAX)
local ordinal = integer(sequence, 1, TRACKS_MAX - 1)
if not (up and down and ordinal) then fail('not_found', 'The track is not in the queue') end

local ballots = read('HMGET', key.ballots, '', track)
local current = ballots[1] == tag -- the user's ballots are of this session
local before = 'none'
if current and ballots[2] == sequence .. 'u' then before = 'up' end
if current and ballots[2] == sequence .. 'd' then before = 'down' end

local old_place = (up - down) * TRACKS_MAX - ordinal
if before == 'up' then up = math.max(up - 1, 0) elseif before == 'down' then down = math.max(down - 1, 0) end
if args.vote == 'up' then up = up + 1 elseif args.vote == 'down' then down = down + 1 end
local place = (up - down) * TRACKS_MAX - ordinal

-- Who is before it; the track itself still stands at its old place.
local ahead = read('ZCOUNT', key.order, '(' .. decimal(place), '+inf')
if old_place > place then ahead = ahead - 1 end
local standing = string.format('{"trackId":%s,"upvotes":%d,"downvotes":%d,"score":%d,"position":%d}', encode(track),
  up, down, up - down, ahead + 1)
if args.vote == before then return raw(standing) end

write('HSET', key.tally, track, tag .. ' ' .. sequence .. ' ' .. decimal(up) .. ' ' .. decimal(down))
if place ~= old_place then write('ZADD', key.order, decimal(place), track) end
if args.vote == 'none' then
  write('HDEL', key.ballots, track)
else
  if not current then write('UNLINK', key.ballots) end
  write('HSET', key.ballots, '', tag, track, sequence .. (args.vote == 'up' and 'u' or 'd'))
  if not current then write('EXPIRE', key.ballots, BALLOTS_TTL_S) end
end
note_vote(track, user, args.vote)
emit('dj:' .. args.shopId, 'queue:update', standing)
return raw(standing)
