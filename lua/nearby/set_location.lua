-- @command  set_location
-- @summary  Say where a listener is; the answer tells the nearest listeners, and neighbours hear of it.
-- @http     PUT /v1/location
-- @allow    user|service
-- @arg      userId    user
-- @arg      latitude  number -85..85 -- degrees
-- @arg      longitude number -180..180
-- @arg      city      string 0..80 optional
-- @derive   cell = geohash(latitude, longitude, 3)
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
-- @emits    nearby:enter seen -- to who sees the listener from now on
-- @emits    nearby:move seen -- when it has moved over 25 m since this was last told
-- @emits    nearby:leave {id: string} -- to who sees the listener no more
-- @returns  page -- the nearest 6 to 12 within 2 km; cursor as of `nearby`
-- @cost     O(log n) in the listeners of the cell, O(k) in those who see or are seen, at most 100
-- @weight   2000
-- @rate     90/60 s user
-- @idempotent
--
-- The place is rounded first of all, and nothing more exact is kept, told or called with. No answer is remembered for
-- a retry either: it would outlive the places in it.

local settings = settings_of(key.settings)
local latitude, longitude = rounded(args.latitude, args.longitude, rounding_of(settings))
local place = {latitude = number(place_text(latitude)), longitude = number(place_text(longitude)),
  city = args.city and clipped(args.city), at = now_ms}
place.cell = cell_of(place.latitude, place.longitude)
if place.cell ~= args.cell then
  fail('bad_request', 'The place lies within a centimetre of the border of two cells; send the next one')
end
local last = place_of(key.place)
keep_place(key.place, place)
if homes_apart then
  settle_elsewhere(args.userId, args.cell, place, last)
  return step('sync_listener', {cell = args.cell, userId = args.userId, isAnswer = true}, true)
end
local chosen, has_more = settle(args.userId, place, settings, track_of(key.track), true, false, false)
settle_elsewhere(args.userId, args.cell, place, last)

return page_of(chosen, has_more)
