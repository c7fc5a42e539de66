-- @command  erase_nearby
-- @summary  Forget all that a listener has said: place, track, name, privacy, followers.
-- @allow    worker
-- @erases
-- @arg      userId    user
-- @resolve  cell = user:{userId}#place cell else = none
-- @span     userId -- a listener's settings and rights are its own, its neighbours are the cell's
-- @include  geo
-- @include  listener
-- @include  circle
-- @include  sight
-- @include  rights
-- @include  settle
-- @include  version
-- @key      place     user:{userId}#place
-- @key      settings  user:{userId}#listener
-- @key      track     user:{userId}#track
-- @key      blocks    user:{userId}#blocks
-- @key      blockers  user:{userId}#blockers
-- @key      mutes     user:{userId}#mutes
-- @key      muters    user:{userId}#muters
-- @key      followers user:{userId}#followers
-- @key      sees      user:{userId}#sees
-- @key      sees_at   user:{userId}#sees_at
-- @key      version   user:{userId}#version
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
-- @calls    sync_listener, set_sees, drop_follower, erase_nearby
-- @steps    sync_listener
-- @emits    nearby:leave {id: string}
-- @returns  {erased: bool}
-- @cost     O(n) in followers and followed, at most 80 in one run; the worker makes further ones
-- @weight   2000
-- @idempotent

local BATCH_MAX = 40

local last = place_of(key.place)
if not homes_apart then
  settle(args.userId, nil, settings_of(key.settings), nil, false, false, false)
elseif last then
  step('sync_listener', {cell = args.cell, userId = args.userId})
end
settle_elsewhere(args.userId, args.cell, nil, last)
note_version(key.sees_at, '*', now_ms * 1000)
local followers = read('SRANDMEMBER', key.followers, BATCH_MAX)
local version = #followers > 0 and next_version(key.version, LATE_S)
for _, follower in ipairs(followers) do
  later('set_sees', {userId = follower, otherId = args.userId, sees = false, version = version})
end
local others = read('SRANDMEMBER', key.sees, BATCH_MAX)
for _, other in ipairs(others) do
  later('drop_follower', {userId = other, followerId = args.userId})
end
if #followers == BATCH_MAX or #others == BATCH_MAX then
  if #followers > 0 then write('SREM', key.followers, unpack(followers)) end
  if #others > 0 then write('SREM', key.sees, unpack(others)) end
  write('DEL', key.place, key.settings, key.track)
  later('erase_nearby', {userId = args.userId})
else
  write('DEL', key.place, key.settings, key.track, key.followers, key.sees)
end
return {erased = true}
