-- @part    circle
-- @summary Places in one cell, the picture that each listener has of the others, and its watchers.
-- @type    seen {id: string, user: listener, distance: number}
-- @type    page {nearby: [seen], cursor?: string}
--
-- Keys of the cell C; all of them together hold what is told, and nothing more exact. A listener has a slot in a cell,
-- a text of SLOT_BYTES, because Redis's Lua takes time for each byte of a text that it makes:
-- cell:C#slots     a hash: listener -> slot; under no name, how many there ever were
-- cell:C#names     a hash: slot -> listener
-- cell:C#shown     a sorted set, as GEOADD keeps places: slots whom others may see here, also from cells nearby
-- cell:C#hidden    the same of those who live in this cell and whom nobody may see: they are told of others
-- cell:C#cards     a hash: slot -> visibility, end, place, place last told, and the JSON text that others are told
-- cell:C#pictures  a hash: slot -> how far its picture reaches, four digits, then the slots in it; of all who live here
-- cell:C#watchers  a hash: slot -> four digits, then the slots in whose pictures it is
-- cell:C#apart     a hash: slot -> marks of those whom the listener blocks or mutes (part_rights.lua)
-- cell:C#signs     a sorted set: slot -> when it expires, milliseconds
--
-- A picture holds at most VILLAGE.most. Where many are it reaches as far as its PICTURE_KEPT nearest when its viewer
-- moved last; when others fill it, it keeps the nearest PICTURE_KEPT again and reaches less far. Who gets out of its
-- reach leaves it. So every listener is told of the nearest.
--
-- A move is told to all who saw the listener before, at most WATCHERS_MAX. It enters the pictures of the nearest as
-- long as few have been told, so it costs the same wherever it is made.
--
-- How near the PICTURE_KEPT nearest stand is the density. An app walks 100 m between two calls: in a crowd each call
-- exchanges whole pictures, in a town half of them. There pictures are smaller. In a crowd a full one stays as it is,
-- since those around leave it with their next steps.

local LIVE_METRES = 2000     -- changes further away are not told
local PICTURE_KEPT = 12
local PICTURE_THIN = 4       -- with fewer, a picture that had shrunk reaches twice as far
-- Densities: `kept` and `most` of a picture; of a move, the nearest whose pictures it may enter, and how many others it
-- tells beside those who saw the listener before.
local VILLAGE = {kept = PICTURE_KEPT, most = 24, near = 18, told = 16}
local TOWN = {within = 250, kept = 10, most = 16, near = 15, told = 14}
local CROWD = {within = 100, kept = 6, most = 10, near = 10, told = 11}
local WATCHERS_MAX = 48
local REFILLS_MAX = 1        -- full pictures that one move may thin; the others stay as they are
local MOVE_METRES = 25
local REACH_MIN = 20         -- metres; of those nearer than this to each other, any count as the nearest
local SEARCH_MAX = 50
local SEARCH_USUAL = 30    -- found where the first radius was right: between VILLAGE.near and SEARCH_MAX
local SEARCH_STEPS = 12
local SLOT_BYTES = 5
local SLOTS_TTL_S = 86400

-- ---------------------------------------------------------------------------------------------------------------
-- Slots

local names = {}

-- The slot of a listener in this cell, nil for none.
local function slot_of(user)
  local slot = read('HGET', key.slots, user)
  if not slot or #slot ~= SLOT_BYTES then return nil end
  names[slot] = user
  return slot
end

-- A new slot for a listener. No slot is given twice while anybody is in the cell.
local function new_slot(user)
  local letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'
  local number = integer(read('HGET', key.slots, ''), 0, 64 ^ SLOT_BYTES - 2) or 0
  local slot, rest = '', number
  for _ = 1, SLOT_BYTES do
    local letter = rest % 64
    slot = string.sub(letters, letter + 1, letter + 1) .. slot
    rest = (rest - letter) / 64
  end
  names[slot] = user
  write('HSET', key.slots, '', decimal(number + 1), user, slot)
  write('HSET', key.names, slot, user)
  return slot
end

local function leave_slot(slot)
  write('HDEL', key.slots, names[slot])
  write('HDEL', key.names, slot)
  write('HDEL', key.apart, slot)
end

-- Finds out which listeners have some slots.
local function load_names(slots)
  local missing = {}
  for _, slot in ipairs(slots) do
    if not names[slot] then missing[#missing + 1] = slot end
  end
  if #missing == 0 then return end
  for place, name in ipairs(read('HMGET', key.names, unpack(missing))) do
    if name and is_id(name) then names[missing[place]] = name end
  end
end

-- ---------------------------------------------------------------------------------------------------------------
-- Finding. What was found are pairs {slot, metres}, as Redis makes them.

-- Metres from a place to members of a geo set: slot -> metres; who is not in it is absent.
local function distances(name, slots, latitude, longitude)
  local known = {}
  if #slots == 0 then return known end
  for place, pair in ipairs(read('GEOPOS', name, unpack(slots))) do
    local there = pair and tonumber(pair[1])
    if there then known[slots[place]] = metres(latitude, longitude, tonumber(pair[2]), there) end
  end
  return known
end

-- Members of a geo set within a distance, nearest first; when there are more than `most`, any `most` of them.
local function within(name, latitude, longitude, distance, most)
  local found = read('GEOSEARCH', name, 'FROMLONLAT', longitude, latitude, 'BYRADIUS', distance, 'm', 'ASC', 'COUNT',
    most, 'ANY', 'WITHDIST')
  for _, pair in ipairs(found) do pair[2] = tonumber(pair[2]) end
  return found
end

-- Members of a pile, which is more than can be looked at within REACH_MIN: those that Redis keeps next to a user. Each
-- user has other ones, so a thousand on one spot do not all look at the same few.
local function neighbours(name, user_slot, latitude, longitude, most)
  local score = geo_score(latitude, longitude)
  local first, after = read('ZCOUNT', name, '-inf', '(' .. score), read('ZCOUNT', name, '-inf', score)
  local place = first + tonumber(string.sub(sha1(user_slot), 1, 8), 16) % math.max(after - first, 1)
  place = math.max(place - math.floor(most / 2), 0)
  local slots, list = read('ZRANGE', name, place, place + most - 1), {}
  local known = distances(name, slots, latitude, longitude)
  for _, slot in ipairs(slots) do
    if known[slot] and known[slot] <= REACH_MIN then list[#list + 1] = {slot, known[slot]} end
  end
  return list
end

-- Puts what was found in order. Redis has sorted them, but not those at the same distance.
local function sort_found(list)
  for place = 2, #list do
    local one, before = list[place], place - 1
    local slot, distance = one[1], one[2]
    while before > 0 and (list[before][2] > distance or list[before][2] == distance and list[before][1] > slot) do
      list[before + 1] = list[before]
      before = before - 1
    end
    list[before + 1] = one
  end
end

-- The nearest members of a geo set to a user, nearest first: at least `need` of them within `radius`, or all; at most
-- `most`. Looks first as far as `reach`, then as the density wants, so a search costs the same in a village and in a
-- stadium. Returns the list and how far it is complete.
local function nearest(name, slot, latitude, longitude, radius, need, most, reach)
  local low, high = nil, nil
  local few, many = {}, nil
  reach = math.min(math.max(reach, REACH_MIN), radius)
  for step = 1, SEARCH_STEPS do
    local found = within(name, latitude, longitude, reach, most)
    if #found < most then
      few, low = found, reach
      if #found >= need or reach >= radius then break end
    else
      many, high = found, reach
      if reach <= REACH_MIN then
        many = neighbours(name, slot, latitude, longitude, most)
        break
      end
    end
    if low and high then
      if high / low < 1.1 then break end
      reach = math.sqrt(low * high)
    elseif low then
      reach = math.min(low * 2, radius)
    else
      reach = math.max(high / (step == 1 and 1.5 or 2), REACH_MIN)
    end
  end
  low = low or 0
  if #few < need and many then
    for _, one in ipairs(many) do
      if #few >= most then break end
      if one[2] > low then few[#few + 1] = one end
    end
  end
  sort_found(few)
  return few, low
end

-- The density where the PICTURE_KEPT nearest stand within some metres.
local function density_within(distance)
  return distance < CROWD.within and CROWD or distance < TOWN.within and TOWN or VILLAGE
end

-- The density of those found around a listener.
local function density_of(found, slot)
  local others = 0
  for _, one in ipairs(found) do
    if one[1] ~= slot then others = others + 1 end
    if others == PICTURE_KEPT then return density_within(one[2]) end
  end
  return VILLAGE
end

-- ---------------------------------------------------------------------------------------------------------------
-- Lists: pictures and watchers as they are and as they will be. The text is `RRRR` and then slots.

local EMPTY = decimal(LIVE_METRES)
local lists = {pictures = {}, watchers = {}}
local changed = {pictures = {}, watchers = {}}
local lives = {} -- who lives in this cell, of those whose pictures have been loaded: everybody there has one

local function load_lists(kind, slots)
  local known, missing = lists[kind], {}
  for _, slot in ipairs(slots) do
    if not known[slot] then
      missing[#missing + 1] = slot
      known[slot] = EMPTY
    end
  end
  if #missing == 0 then return end
  local is_picture = kind == 'pictures'
  for place, text in ipairs(read('HMGET', is_picture and key.pictures or key.watchers, unpack(missing))) do
    if text then
      if is_picture then lives[missing[place]] = true end
      if (#text - 4) % SLOT_BYTES == 0 and string.find(text, '^%d%d%d%d') then known[missing[place]] = text end
    end
  end
end

local function count_in(kind, owner)
  return (#lists[kind][owner] - 4) / SLOT_BYTES
end

local function reach_of(viewer)
  return tonumber(string.sub(lists.pictures[viewer], 1, 4))
end

-- Whether one more finds room in a picture.
local function has_room(viewer)
  return count_in('pictures', viewer) < density_within(reach_of(viewer)).most
end

local function members(kind, owner)
  local text, slots = lists[kind][owner], {}
  for first = 5, #text, SLOT_BYTES do slots[#slots + 1] = string.sub(text, first, first + SLOT_BYTES - 1) end
  return slots
end

local function change(kind, owner, text)
  lists[kind][owner] = text
  changed[kind][owner] = true
end

-- How far a picture reaches, as it stands before its slots.
local function reach_text(reach)
  return string.format('%04d', math.min(math.ceil(reach), LIVE_METRES))
end

local function add_one(kind, owner, slot)
  change(kind, owner, lists[kind][owner] .. slot)
end

local function drop_one(kind, owner, slot)
  local text = lists[kind][owner]
  local first = string.find(text, slot, 5, true)
  while first and (first - 5) % SLOT_BYTES > 0 do first = string.find(text, slot, first + 1, true) end
  if first then change(kind, owner, string.sub(text, 1, first - 1) .. string.sub(text, first + SLOT_BYTES)) end
end

-- Takes a listener out of a viewer's picture, which must have been loaded. A picture that gets thin reaches further.
local function lose(viewer, slot)
  if not lives[viewer] then return end
  drop_one('pictures', viewer, slot)
  local text = lists.pictures[viewer]
  if #text < 4 + PICTURE_THIN * SLOT_BYTES then
    change('pictures', viewer, reach_text(2 * tonumber(string.sub(text, 1, 4))) .. string.sub(text, 5))
  end
end

-- A viewer who lives here no more has no picture.
local function forget_picture(viewer)
  if not lives[viewer] then return end
  change('pictures', viewer, '')
  lives[viewer] = nil
end

-- Writes the lists that have changed.
local function keep_lists()
  for _, kind in ipairs({'pictures', 'watchers'}) do
    local name = kind == 'pictures' and key.pictures or key.watchers
    local least = kind == 'pictures' and 0 or 4
    local set, gone = {}, {}
    for owner in pairs(changed[kind]) do
      local text = lists[kind][owner]
      if #text <= least then
        gone[#gone + 1] = owner
      else
        set[#set + 1] = owner
        set[#set + 1] = text
      end
    end
    if #set > 0 then write('HSET', name, unpack(set)) end
    if #gone > 0 then write('HDEL', name, unpack(gone)) end
  end
end

-- ---------------------------------------------------------------------------------------------------------------
-- Cards: visibility in a letter; the end in 13 digits, place and place last told in 4 times 12 bytes; the text. All
-- stands where it does since a pattern for it would take too long.

local CARD_TEXT = 63
local LETTERS_OF = {everyone = 'e', followers = 'f'}

local cards = {}

-- Whether a text is a card.
local function is_card(text)
  if type(text) ~= 'string' or #text <= CARD_TEXT then return false end
  local letter = string.byte(text)
  return (letter == 101 or letter == 102) and tonumber(string.sub(text, 2, 14)) ~= nil
end

local function load_cards(found, first, last)
  local slots = {}
  for place = first, math.min(last, #found) do slots[#slots + 1] = found[place][1] end
  if #slots == 0 then return end
  for place, text in ipairs(read('HMGET', key.cards, unpack(slots))) do
    cards[slots[place]] = is_card(text) and text or nil
  end
end

local function is_for_followers(card)
  return string.byte(card) == 102
end

local function end_of(card)
  return tonumber(string.sub(card, 2, 14))
end

-- What others are told, as kept in a card.
local function text_in(card)
  return string.sub(card, CARD_TEXT)
end

-- The place of a card and the one last told: latitude, longitude, latitude, longitude; nothing for what is none.
local function places_in(card)
  local first = number(string.sub(card, 15, 26))
  local second, third = number(string.sub(card, 27, 38)), number(string.sub(card, 39, 50))
  local fourth = number(string.sub(card, 51, 62))
  if first and second and third and fourth then return first, second, third, fourth end
end

local function keep_card(slot, card)
  write('HSET', key.cards, slot, string.format('%s%013.0f%012.7f%012.7f%012.7f%012.7f', LETTERS_OF[card.visible],
    card.ends, card.latitude, card.longitude, card.told_latitude, card.told_longitude) .. card.text)
end

-- ---------------------------------------------------------------------------------------------------------------
-- Telling

-- What a page after this listener begins with: its distance as Redis tells it, and its slot.
local function cursor_text(one)
  return string.format('%.4f~%s', one[2], one[1])
end

-- A nearby listener, as answers and events have it; `text` is of its card.
local function listener_text(text, distance)
  return '{' .. text .. ',"distance":' .. decimal(distance) .. '}'
end

-- Listeners {slot, metres} whose cards have been loaded, as answers have them.
local function listeners_text(list)
  local texts = {}
  for place, one in ipairs(list) do texts[place] = listener_text(text_in(cards[one[1]]), one[2]) end
  return raw('[' .. table.concat(texts, ',') .. ']')
end

-- The answer to a listener who has moved: those whom it sees from now on.
local function page_of(chosen, has_more)
  local final = chosen[#chosen]
  return {nearby = listeners_text(chosen), cursor = has_more and final and cursor_text(final) or nil}
end

-- The names of viewers must have been loaded; who has none has left.
local function tell_here(event, viewer, text, distance)
  if names[viewer] then tell_now('user:' .. names[viewer], event, listener_text(text, distance)) end
end

local function tell_gone(viewer, slot)
  if names[viewer] and names[slot] then
    tell_now('user:' .. names[viewer], 'nearby:leave', '{"id":"' .. names[slot] .. '"}')
  end
end
