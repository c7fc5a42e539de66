-- @command  nearby
-- @summary  Who listens near a listener's place, the nearest first, by pages.
-- @http     GET /v1/nearby
-- @allow    user|service
-- @arg      userId    user
-- @arg      radius    int 100..20000 = 2000 -- metres
-- @arg      limit     int 1..40 = 20
-- @arg      cursor    string 1..250 optional -- what the page before ended with
-- @resolve  cell = user:{userId}#place cell else no_place 404 -- Send a location first
-- @span     cell reads userId -- a listener's settings and rights are its own, its neighbours are the cell's
-- @include  geo
-- @include  listener
-- @include  circle
-- @include  sight
-- @include  rights
-- @key      place     user:{userId}#place
-- @key      blocks    user:{userId}#blocks
-- @key      blockers  user:{userId}#blockers
-- @key      mutes     user:{userId}#mutes
-- @key      sees      user:{userId}#sees
-- @key      slots     cell:{cell}#slots
-- @key      names     cell:{cell}#names
-- @key      apart     cell:{cell}#apart
-- @key      shown     cell:{cell}#shown
-- @key      cards     cell:{cell}#cards
-- @key      pictures  cell:{cell}#pictures
-- @returns  page -- no cursor behind the last page
-- @errors   no_place 404
-- @cost     O(log n) in the listeners of the cell, O(k) in those listed, at most 160
-- @weight   2000
-- @rate     60/60 s user
-- @readonly
--
-- Pages go through the nearest LISTED_MAX and no further, so that a page costs the same wherever it is asked for.
-- Distances are between places as they are kept: who moves to and fro learns no more of a rounded place.

local LISTED_MAX = 160

local place = place_of(key.place)
if not place then fail('no_place', 'Send a location first') end
local own = slot_of(args.userId)
if not own then fail('no_place', 'Send a location first') end
local after, after_slot = -1, ''
if args.cursor then
  after, after_slot = string.match(args.cursor, '^(%d+%.%d%d%d%d)~([%w_-]+)$')
  after = number(after)
  if not after then fail('bad_request', 'cursor must be the one that a page of nearby ended with') end
end

-- Fills a page from those found. Returns it and whether some are left.
local function fill(found)
  local page, first = {}, 1
  while found[first] and (found[first][2] < after or found[first][2] == after and found[first][1] <= after_slot) do
    first = first + 1
  end
  while first <= #found do
    local slots = {}
    for index = first, math.min(first + args.limit, #found) do slots[#slots + 1] = found[index][1] end
    load_cards(found, first, first + args.limit)
    local allowed = seen_by(slots)
    for index, slot in ipairs(slots) do
      local card = cards[slot]
      if slot ~= own and card and end_of(card) > now_ms and allowed[slot] then
        if #page == args.limit then return page, true end
        page[#page + 1] = found[first + index - 1]
      end
    end
    first = first + #slots
  end
  return page, false
end

load_lists('pictures', {own})
local need = args.cursor and LISTED_MAX or math.min(2 * args.limit, LISTED_MAX)
local found, complete = nearest(key.shown, own, place.latitude, place.longitude, args.radius, need, LISTED_MAX + 1,
  reach_of(own))
local page, has_more = fill(found)
if not has_more and complete < args.radius and need < LISTED_MAX then
  found = nearest(key.shown, own, place.latitude, place.longitude, args.radius, LISTED_MAX, LISTED_MAX + 1,
    complete * 2)
  page, has_more = fill(found)
end
return {nearby = listeners_text(page), cursor = has_more and cursor_text(page[#page]) or nil}
