-- @summary  Tell of a track that was added by its id alone when Spotify's words about it do not come in time.
-- @refresh  dj:{shopId}#untold
-- @arg      shopId id
-- @include  track
-- @include  untold
-- @key      untold  dj:{shopId}#untold
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @topic    dj:{shopId}
-- @emits  track:added added_track
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(log n) in queued tracks, for each of at most 20 that wait
-- @weight   700

local BATCH_MAX = 20

local waiting = read('ZRANGE', key.untold, 0, BATCH_MAX, 'WITHSCORES')
for index = 1, math.min(#waiting, 2 * BATCH_MAX), 2 do
  local due = number(waiting[index + 1]) or 0
  if due > now_ms then return {idle = false, again_ms = math.ceil(math.min(due, now_ms + UNTOLD_MS))} end
  tell_added(waiting[index])
end
if #waiting > 2 * BATCH_MAX then return {idle = false, again_ms = now_ms} end
return {idle = true}
