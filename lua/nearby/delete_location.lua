-- @command  delete_location
-- @summary  Forget where a listener is: gone from everything that others read, and who saw it hears that it left.
-- @http     DELETE /v1/location
-- @allow    user|service
-- @arg      userId    user
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
-- @emits    nearby:leave {id: string}
-- @returns  {deleted: bool}
-- @cost     O(log n) in the listeners of the cell, O(k) in those who see or are seen, at most 100
-- @weight   1000
-- @idempotent
--
-- Nothing that tells a place is ever logged, so there is no log to be cleaned.

local last = place_of(key.place)
write('DEL', key.place)
if not homes_apart then
  settle(args.userId, nil, settings_of(key.settings), nil, false, false, false)
elseif last then
  step('sync_listener', {cell = args.cell, userId = args.userId})
end
settle_elsewhere(args.userId, args.cell, nil, last)
return {deleted = last ~= nil}
