-- @summary  Take out of a cell the listeners who have given no sign for ten minutes.
-- @refresh  cell:{cell}#signs
-- @arg      cell      id
-- @coalesce 50 ms
-- @include  geo
-- @include  listener
-- @include  circle
-- @include  sight
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
-- @emits    nearby:leave {id: string}
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(k) in those who see or are seen by whom it takes out, at most 8 in one run
-- @weight   2000

local BATCH_MAX = 8

local now = decimal(now_ms)
local gone = read('ZRANGEBYSCORE', key.signs, '-inf', now, 'LIMIT', 0, BATCH_MAX)
local rest = read('ZRANGEBYSCORE', key.signs, '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
load_names(gone)
for _, slot in ipairs(gone) do
  show(slot, nil)
  look_away(slot)
  if names[slot] then leave_slot(slot) end
end
keep_lists()
if #gone > 0 then write('ZREM', key.signs, unpack(gone)) end
if #gone == BATCH_MAX then return {idle = false, again_ms = now_ms} end
if #rest == 0 then return {idle = true} end
return {idle = false, again_ms = math.ceil(math.min(tonumber(rest[2]), now_ms + SIGN_MS))}
