-- @command  remove_track
-- @summary  Take a track out of the queue; who added it may, and services.
-- @http     DELETE /v1/shops/{shopId}/tracks/{trackId}
-- @allow    user|service
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @topic    dj:{shopId}
-- @emits    track:removed {trackId}
-- @returns  {trackId}
-- @errors   forbidden, not_found
-- @cost     O(log n) in queued tracks
-- @weight   200

local track = args.trackId
if not string.find(read('HGET', key.tally, track) or '', '^%x+ %d+ %d+ %d+$') then
  fail('not_found', 'The track is not in the queue')
end
if caller.role ~= 'service' then
  local item = decode(read('HGET', key.tracks, track))
  if type(item) ~= 'table' or not caller.user or item.addedBy ~= caller.user then
    fail('forbidden', 'Only who added a track may remove it')
  end
end
write('HDEL', key.tally, track)
write('HDEL', key.tracks, track)
write('ZREM', key.order, track)
emit('dj:' .. args.shopId, 'track:removed', {trackId = track})
return {trackId = track}
