-- @command  set_privacy
-- @summary  Say who may see a listener, and to how many metres its place is rounded before it is kept.
-- @http     PUT /v1/privacy
-- @allow    user|service
-- @arg      userId    user
-- @arg      visible   enum everyone,followers,nobody optional -- what is not given stays
-- @arg      rounding  int 0..1000 optional -- metres: 0 (the exact place), 100 or 1000
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
-- @emits    nearby:leave {id: string} -- to who may see the listener no more
-- @emits    nearby:enter seen -- to who may see it from now on
-- @emits    nearby:move seen -- when the rounded place is another
-- @returns  {visible: visible, rounding: int}
-- @cost     O(log n) in the listeners of the cell, O(k) in those who see or are seen, at most 100
-- @weight   2000
-- @rate     30/60 s user
-- @idempotent
--
-- Until a listener chooses, its place is rounded to 100 m. A place that is kept already is rounded again when it would
-- now be kept less exactly. A listener who is visible to nobody is kept to the kilometre at most, to see others.

if args.rounding and args.rounding ~= 0 and args.rounding ~= 100 and args.rounding ~= 1000 then
  fail('bad_request', 'rounding must be 0, 100 or 1000')
end
local settings = settings_of(key.settings)
local before = rounding_of(settings)
settings.visible = args.visible or settings.visible
settings.rounding = args.rounding or settings.rounding
write('HSET', key.settings, 'visible', settings.visible)
if args.rounding then
  write('HSET', key.settings, 'rounding', args.rounding == 0 and 'exact' or decimal(args.rounding))
end
local place = place_of(key.place)
if place then
  if rounding_of(settings) > before then
    local latitude, longitude = rounded(place.latitude, place.longitude, rounding_of(settings))
    place.latitude, place.longitude = number(place_text(latitude)), number(place_text(longitude))
    keep_place(key.place, place)
  end
  if homes_apart then
    step('sync_listener', {cell = args.cell, userId = args.userId})
  else
    settle(args.userId, place, settings, track_of(key.track), true, true, true)
  end
  settle_elsewhere(args.userId, args.cell, place)
end
return {visible = settings.visible, rounding = settings.rounding}
