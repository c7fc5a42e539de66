-- @command  remove_track
-- @summary  Take a track out of the queue; who added it may, and services.
-- @http     DELETE /v1/shops/{shopId}/tracks/{trackId}
-- @allow    user|service
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @include  dj
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      removed dj:{shopId}#removed
-- @key      adders  dj:{shopId}#adders
-- @topic    dj:{shopId}
-- @emits    track:removed {trackId: string}
-- @returns  {trackId: string}
-- @errors   forbidden, not_found
-- @cost     O(log n) in queued tracks
-- @weight   225
--
-- The track's votes are kept for the session: who queues it again gets them back (add_track.lua).

local track = args.trackId
local tally = read('HGET', key.tally, track) or ''
if not string.find(tally, '^%x+ %d+ %d+ %d+$') then fail('not_found', 'The track is not in the queue') end
local text = read('HGET', key.tracks, track)
if caller.role ~= 'service' then
  local item = decode(text)
  if type(item) ~= 'table' or not caller.user or item.addedBy ~= caller.user then
    fail('forbidden', 'Only who added a track may remove it')
  end
end
write('HDEL', key.tally, track)
write('HDEL', key.tracks, track)
write('ZREM', key.order, track)
local left_ms = read('PTTL', key.session)
if left_ms > 0 then
  write('HSET', key.removed, track, tally)
  write('PEXPIRE', key.removed, left_ms)
end
leave_queue(text)
emit('dj:' .. args.shopId, 'track:removed', {trackId = track})
return {trackId = track}
