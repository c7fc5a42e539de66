-- @command  set_track
-- @summary  Say what a listener plays; neighbours hear of it, and the listener's place lives on.
-- @http     PUT /v1/track
-- @allow    user|service
-- @arg      userId        user
-- @arg      trackId       string 1..64 as id
-- @arg      trackName     string 1..200 as name
-- @arg      artist        string 0..200
-- @arg      albumName     string 0..200 optional
-- @arg      albumImageUrl string 0..200 optional
-- @arg      duration      int 0..2147483647
-- @arg      isPlaying     bool
-- @resolve  cell = user:{userId}#place cell else = none
-- @span     userId -- a listener's settings and rights are its own, its neighbours are the cell's
-- @include  geo
-- @include  listener
-- @include  circle
-- @include  sight
-- @include  rights
-- @include  settle
-- @key      place     user:{userId}#place
-- @key      settings  user:{userId}#listener
-- @key      track     user:{userId}#track
-- @key      blocks    user:{userId}#blocks
-- @key      blockers  user:{userId}#blockers
-- @key      mutes     user:{userId}#mutes
-- @key      muters    user:{userId}#muters
-- @key      followers user:{userId}#followers
-- @key      sees      user:{userId}#sees
-- @key      slots     cell:{cell}#slots
-- @key      names     cell:{cell}#names
-- @key      apart     cell:{cell}#apart
-- @key      shown     cell:{cell}#shown
-- @key      hidden    cell:{cell}#hidden
-- @key      cards     cell:{cell}#cards
-- @key      pictures  cell:{cell}#pictures
-- @key      watchers  cell:{cell}#watchers
-- @key      signs     cell:{cell}#signs
-- @topic    user:*
-- @calls    sync_listener
-- @steps    sync_listener
-- @emits    nearby:track {id: string, currentTrack?: track}
-- @returns  track
-- @cost     O(k) in those who see the listener, at most 100
-- @weight   1000
-- @rate     6/60 s user
-- @idempotent
--
-- Long names are told by their first NAME_BYTES.

local track = {
  id = args.trackId, name = clipped(args.trackName), artist = clipped(args.artist),
  albumName = args.albumName and clipped(args.albumName),
  albumImageUrl = args.albumImageUrl, duration = args.duration, isPlaying = args.isPlaying,
}
write('SET', key.track, encode(track), 'PX', decimal(TRACK_MS))
local place = place_of(key.place)
if place then
  place.at = now_ms
  keep_place(key.place, place)
  if homes_apart then
    step('sync_listener', {cell = args.cell, userId = args.userId, isTrack = true})
  else
    sing(args.userId, place, settings_of(key.settings), track)
  end
  settle_elsewhere(args.userId, args.cell, place, nil, true)
end
return track
