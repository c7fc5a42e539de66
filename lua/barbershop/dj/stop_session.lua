-- @command  stop_session
-- @summary  End a shop's DJ session: its queue, current track and votes are gone.
-- @http     POST /v1/shops/{shopId}/dj/stop
-- @allow    service
-- @arg      shopId id
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      removed dj:{shopId}#removed
-- @key      adders  dj:{shopId}#adders
-- @key      voters  dj:{shopId}#voters
-- @topic    dj:{shopId}
-- @emits    session:stopped {shopId: string, isActive: bool, currentTrack: null, queue: [queued_track],
--            startedAt: null} -- the whole state
-- @returns  {shopId: string, isActive: bool}
-- @cost     O(1); the queue is freed in the background
-- @weight   300
--
-- Where no session runs nothing changes and no event is sent.

if read('HGET', key.session, 'isActive') == '1' then
  write('UNLINK', key.session, key.tracks, key.tally, key.order, key.removed, key.adders, key.voters)
  emit('dj:' .. args.shopId, 'session:stopped', {
    shopId = args.shopId, isActive = false, currentTrack = null, queue = array(), startedAt = null,
  })
end
return {shopId = args.shopId, isActive = false}
