-- @command  start_session
-- @summary  Start a shop's DJ session with an empty queue; a session that runs already is answered as it is.
-- @http     POST /v1/shops/{shopId}/dj/start
-- @allow    service
-- @arg      shopId id
-- @arg      voters bool optional -- whether the state names who voted; without it, as the shop's setting says
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      removed dj:{shopId}#removed
-- @key      adders  dj:{shopId}#adders
-- @key      voters  dj:{shopId}#voters
-- @key      untold  dj:{shopId}#untold
-- @key      settings shop:{shopId}#settings
-- @topic    dj:{shopId}
-- @emits    session:started {shopId: string, isActive: bool, currentTrack: null, queue: [queued_track],
--            startedAt: string} -- the whole state
-- @returns  {shopId: string, isActive: bool, startedAt: string}
-- @cost     O(1); the old queue is freed in the background
-- @weight   200
-- @random
--
-- Every session has a random tag that is part of its tracks' tallies and of its ballots, so that a ballot left from
-- a former session can never count. A session and its queue end by themselves after SESSION_MS at the latest: only
-- so do ballots, which live longer, have an end too and still forbid a second vote while the track is there.

local got = read('HMGET', key.session, 'isActive', 'startedAt', 'tag')
local started = integer(got[2], 0, INTEGER_MAX)
if got[1] == '1' and started and got[3] then
  return {shopId = args.shopId, isActive = true, startedAt = iso(started)}
end
write('UNLINK', key.session, key.tracks, key.tally, key.order, key.removed, key.adders, key.voters,
  key.untold)
write('HSET', key.session, 'isActive', '1', 'startedAt', decimal(now_ms), 'sequence', '0',
  'tag', string.sub(random, 1, 12))
write('PEXPIRE', key.session, SESSION_MS)
local has_voters = args.voters
if has_voters == nil then has_voters = read('HGET', key.settings, 'voters') == '1' end
if has_voters then
  write('HSET', key.voters, '', '1') -- part_voters.lua
  write('PEXPIRE', key.voters, SESSION_MS)
end
emit('dj:' .. args.shopId, 'session:started', {
  shopId = args.shopId, isActive = true, currentTrack = null, queue = array(), startedAt = iso(now_ms),
})
return {shopId = args.shopId, isActive = true, startedAt = iso(now_ms)}
