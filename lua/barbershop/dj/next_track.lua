-- @command  next_track
-- @summary  Take the first track of the queue and play it; with an empty queue nothing plays.
-- @http     POST /v1/shops/{shopId}/dj/next
-- @allow    service
-- @arg      shopId id
-- @include  dj
-- @include  track
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      adders  dj:{shopId}#adders
-- @key      voters  dj:{shopId}#voters
-- @topic    dj:{shopId}
-- @emits    track:playing playing_track
-- @emits    queue:empty {shopId: string} -- a track was playing and none follows
-- @returns  {track: playing_track|null} -- the track that plays now, or null
-- @errors   conflict
-- @cost     O(log n) in queued tracks
-- @weight   450
--
-- The event also has what a player of Spotify's tracks reads: `id`, `name`, `artists`, `album`, `duration_ms`
-- (part_track.lua). Its ballots need not be found: they are for its number in the session, which no other track gets.

local session = read('HMGET', key.session, 'isActive', 'current')
if session[1] ~= '1' then fail('conflict', 'No DJ session is active at this shop') end
local topic = 'dj:' .. args.shopId
local track = read('ZREVRANGE', key.order, 0, 0)[1]
if not track then
  if session[2] then
    write('HDEL', key.session, 'current')
    emit(topic, 'queue:empty', {shopId = args.shopId})
  end
  return {track = null}
end

local text = read('HGET', key.tracks, track)
local item = decode(text)
if type(item) ~= 'table' or item.trackId ~= track then item = {trackId = track} end -- text of others
local up, down = string.match(read('HGET', key.tally, track) or '', '^%x+ %d+ (%d+) (%d+)$')
item.upvotes, item.downvotes = integer(up, 0, VOTES_MAX) or 0, integer(down, 0, VOTES_MAX) or 0
item.score, item.position = item.upvotes - item.downvotes, nil
local playing = encode(as_spotify(item))
write('HSET', key.session, 'current', playing)
write('HDEL', key.tally, track)
write('HDEL', key.tracks, track)
write('HDEL', key.voters, track)
write('ZREM', key.order, track)
leave_queue(text)
emit(topic, 'track:playing', playing)
return {track = raw(playing)}
