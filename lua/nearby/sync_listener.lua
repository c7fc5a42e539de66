-- @command  sync_listener
-- @summary  Make one cell agree with what a listener's own keys say: shown, shown anew, or gone.
-- @allow    worker
-- @arg      cell      id
-- @arg      userId    id
-- @arg      isTrack   bool = false -- only the track is another
-- @arg      isRights  bool = false -- whom the listener blocks, mutes or lets follow may be another
-- @arg      isAnswer  bool = false -- the listener itself is answered, and so not told
-- @span     cell reads userId -- a listener's settings and rights are its own, its neighbours are the cell's
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
-- @emits    nearby:enter seen
-- @emits    nearby:move seen
-- @emits    nearby:leave {id: string}
-- @emits    nearby:track {id: string, currentTrack?: track}
-- @returns  {shown: bool}|page -- the page with isAnswer, as set_location.lua tells it
-- @cost     O(log n) in the listeners of the cell, O(k) in those who see or are seen, at most 100
-- @weight   2500
-- @idempotent
--
-- The call names no place: it is read when the call is made, so a late or repeated call shows nothing that is over.

local place = place_of(key.place)
local is_near = false
if place then
  for _, cell in ipairs(cells_of(place.latitude, place.longitude)) do is_near = is_near or cell == args.cell end
end
if not is_near then place = nil end
local is_home = place ~= nil and cell_of(place.latitude, place.longitude) == args.cell
local settings, track = settings_of(key.settings), track_of(key.track)
if place and args.isTrack then
  sing(args.userId, place, settings, track)
else
  local is_told = not args.isAnswer
  local chosen, has_more = settle(args.userId, place, settings, track, is_home, is_told, is_told, args.isRights)
  if args.isAnswer then return page_of(chosen or {}, has_more) end
end
return {shown = place ~= nil}
