-- @command  add_track
-- @summary  Queue a track for a shop's DJ session; the adder must be present, and votes for it by adding it.
-- @http     POST /v1/shops/{shopId}/tracks
-- @allow    user|service
-- @arg      shopId     id
-- @arg      trackId    string 1..128
-- @arg      trackName  string 0..200 optional -- told as "" when absent, like the next two
-- @arg      artistName string 0..200 optional
-- @arg      albumArt   string 0..1000 optional -- address of a picture
-- @arg      userId     user -- who adds it
-- @include  dj
-- @include  track
-- @include  voters
-- @key      session   dj:{shopId}#session
-- @key      tracks    dj:{shopId}#tracks
-- @key      tally     dj:{shopId}#tally
-- @key      order     dj:{shopId}#order
-- @key      ballots   dj:{shopId}#ballots#{userId}
-- @key      removed   dj:{shopId}#removed
-- @key      adders    dj:{shopId}#adders
-- @key      voters    dj:{shopId}#voters
-- @key      catalogue dj:{shopId}#catalogue
-- @key      untold    dj:{shopId}#untold
-- @key      presence  shop:{shopId}#presence
-- @topic    dj:{shopId}
-- @emits  track:added added_track
-- @returns  added_track
-- @errors   not_present 403, conflict, too_large, too_many
-- @cost     O(log n) in queued tracks
-- @weight   700
-- @rate     120/60 s user
-- @call_out spotify track_found
--
-- Data:
--   tally    hash trackId -> `TAG SEQUENCE UP DOWN`: the session's tag, the track's number in it, its votes
--   order    zset trackId -> (UP - DOWN) * TRACKS_MAX - SEQUENCE: score descending, then earlier added; always exact
--   removed  hash trackId -> the tally of a track that was taken out; who queues it again gets it back with its votes
--   ballots  hash of one user: '' -> TAG of the session it is of, trackId -> `SEQUENCE` and `u` or `d`
-- A ballot counts only with the tag and the sequence of the track's tally. So ballots of a former session, and of a
-- track that was played and is queued again, are void without having been found and deleted. A user has at most
-- QUEUED_USER_MAX tracks in the queue and adds at most ADDED_USER_MAX new ones to a session (part_dj.lua); what a
-- service adds for a user is counted and not refused. Answer and event also have what a player of Spotify's tracks
-- reads: `id`, `name`, `artists`, `album`, `duration_ms` (part_track.lua).

local QUEUED_USER_MAX = 20
local ADDED_USER_MAX = 100

local user = args.userId
if tonumber(read('ZSCORE', key.presence, user) or 0) <= now_ms then
  fail('not_present', 'Must be at shop to add a track')
end
local session = read('HMGET', key.session, 'isActive', 'tag', 'sequence')
local tag = session[2]
if session[1] ~= '1' or not tag then fail('conflict', 'No DJ session is active at this shop') end
if string.find(read('HGET', key.tally, args.trackId) or '', '^%x+ %d+ %d+ %d+$') then
  fail('conflict', 'The track is queued already')
end
if read('ZCARD', key.order) >= QUEUE_MAX then
  fail('conflict', 'The queue is full: it takes ' .. QUEUE_MAX .. ' tracks')
end
local queued, added = adder(user)
if caller.role == 'user' and queued >= QUEUED_USER_MAX then
  fail('too_many', 'A user has at most ' .. QUEUED_USER_MAX .. ' tracks in the queue')
end

-- A track that was taken out comes back as it stood: its number, its votes, and who gave them.
local removed = read('HGET', key.removed, args.trackId) or ''
local old_tag, old_sequence, up, down = string.match(removed, '^(%x+) (%d+) (%d+) (%d+)$')
up, down = integer(up, 0, VOTES_MAX - 1), integer(down, 0, VOTES_MAX - 1)
local sequence = old_tag == tag and up and down and integer(old_sequence, 1, TRACKS_MAX - 1)
local ballots = read('HMGET', key.ballots, '', args.trackId)
local is_new = not sequence
if is_new then
  sequence, up, down = (integer(session[3], 0, TRACKS_MAX) or TRACKS_MAX) + 1, 1, 0
  if caller.role == 'user' and added >= ADDED_USER_MAX then
    fail('too_many', 'A user adds at most ' .. ADDED_USER_MAX .. ' new tracks to a session')
  end
  if sequence >= TRACKS_MAX then
    fail('conflict', 'The session is full: no more than ' .. TRACKS_MAX - 1 .. ' tracks can be added to one')
  end
else
  local before = ballots[1] == tag and ballots[2]
  if before == decimal(sequence) .. 'd' then down = math.max(down - 1, 0) end
  if before ~= decimal(sequence) .. 'u' then up = up + 1 end
end

-- What a service said of the track counts more than what a phone says.
local item = decode(read('HGET', key.catalogue, args.trackId) or '')
if type(item) ~= 'table' or type(item.trackName) ~= 'string' then
  item = {trackName = args.trackName or '', artistName = args.artistName or '', albumArt = args.albumArt or ''}
end
if type(item.artists) == 'table' then item.artists = array(item.artists) end
item.trackId, item.addedBy, item.addedAt = args.trackId, user, iso(now_ms)
local is_described = item.albumName ~= nil
local text = encode(item)
if #text > TRACK_BYTES_MAX then
  fail('too_large', 'The track takes more than ' .. TRACK_BYTES_MAX .. ' bytes as JSON')
end
local place = (up - down) * TRACKS_MAX - sequence
item.upvotes, item.downvotes, item.score = up, down, up - down
item.position = read('ZCOUNT', key.order, '(' .. decimal(place), '+inf') + 1
as_spotify(item)

local left_ms = read('PTTL', key.session)
if left_ms < 1 then left_ms = SESSION_MS end
if is_new then write('HSET', key.session, 'sequence', decimal(sequence)) end
write('HSET', key.adders, user, decimal(queued + 1) .. ' ' .. decimal(is_new and added + 1 or added))
write('PEXPIRE', key.adders, left_ms)
write('HDEL', key.removed, args.trackId)
write('HSET', key.tracks, args.trackId, text)
write('PEXPIRE', key.tracks, left_ms)
write('HSET', key.tally, args.trackId, tag .. ' ' .. decimal(sequence) .. ' ' .. decimal(up) .. ' ' .. decimal(down))
write('PEXPIRE', key.tally, left_ms)
write('ZADD', key.order, decimal(place), args.trackId)
write('PEXPIRE', key.order, left_ms)
if ballots[1] ~= tag then write('UNLINK', key.ballots) end
write('HSET', key.ballots, '', tag, args.trackId, decimal(sequence) .. 'u')
write('EXPIRE', key.ballots, BALLOTS_TTL_S)
note_vote(args.trackId, user, 'up', is_new)
local told = encode(item)
-- Phones add by the id alone. Nothing depends on the answer, so nothing waits for room. Where nobody has said what the
-- track is, others are told when Spotify has, or a moment later (untold_refresh.lua).
local is_asked = not is_described and string.find(args.trackId, '^%w+$') ~= nil
is_asked = is_asked and courier_joined('spotify') and call_room('spotify') > 0
if is_asked then
  call_out('spotify', {track = args.trackId}, 'track_found', {shopId = args.shopId, trackId = args.trackId})
end
if is_asked and item.trackName == '' then
  write('ZADD', key.untold, decimal(now_ms + UNTOLD_MS), args.trackId)
  write('PEXPIRE', key.untold, left_ms)
else
  emit('dj:' .. args.shopId, 'track:added', told)
end
return raw(told)
