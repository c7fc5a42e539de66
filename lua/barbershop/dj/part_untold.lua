-- @part     untold
-- @summary  Tracks of which nobody was told yet, since a courier is asked what they are. Needs the part `track`.
--
-- dj:S#untold is a zset: trackId -> when the track is told as it is, ms. Apps show `track:added` at once, so a track
-- that a phone adds by its id is told when it has a name, or after UNTOLD_MS.

-- Tells that a track was added, as it stands now; `about` is what this run has found out.
local function tell_added(track, about)
  write('ZREM', key.untold, track)
  local item, tally = decode(read('HGET', key.tracks, track)), read('HGET', key.tally, track) or ''
  local _, _, up, down = string.match(tally, '^(%x+) (%d+) (%d+) (%d+)$')
  local place = number(read('ZSCORE', key.order, track))
  up, down = integer(up, 0, VOTES_MAX), integer(down, 0, VOTES_MAX)
  if type(item) ~= 'table' or not (up and down and place) then return end
  for name, value in pairs(about or {}) do item[name] = value end
  item.trackId, item.upvotes, item.downvotes, item.score = track, up, down, up - down
  item.position = read('ZCOUNT', key.order, '(' .. decimal(place), '+inf') + 1
  emit('dj:' .. args.shopId, 'track:added', as_spotify(item))
end
