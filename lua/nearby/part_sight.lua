-- @part    sight
-- @summary Who is shown to whom when somebody moves, comes or goes; it stands on the part circle.

-- ---------------------------------------------------------------------------------------------------------------
-- Changing

-- Makes room in a full picture for one more at a distance: the nearest PICTURE_KEPT stay. Whether the new one is of
-- them.
local function refill(viewer, here, shown, distance)
  local slots = members('pictures', viewer)
  local known = distances(key.shown, slots, here.latitude, here.longitude)
  local order = {{slot = shown, metres = distance}}
  for _, slot in ipairs(slots) do order[#order + 1] = {slot = slot, metres = known[slot] or math.huge} end
  table.sort(order, function(one, other)
    if one.metres ~= other.metres then return one.metres < other.metres end
    return one.slot < other.slot
  end)
  load_lists('watchers', slots)
  load_names(slots)
  local has_room = false
  for place, one in ipairs(order) do
    if place <= PICTURE_KEPT then
      has_room = has_room or one.slot == shown
    elseif one.slot ~= shown then
      part(one.slot, viewer)
      tell_gone(viewer, one.slot)
    end
  end
  set_reach(viewer, math.max(order[PICTURE_KEPT].metres, REACH_MIN))
  return has_room
end

-- Who may have to be told of a listener that has come or moved, nearest first: those of `found` who live in this cell,
-- whose cards must have been loaded, and the hidden ones.
local function audience(slot, card, found)
  local list = {}
  for _, one in ipairs(found) do
    if cards[one.slot] and cards[one.slot].is_home and one.slot ~= slot then list[#list + 1] = one end
  end
  if read('EXISTS', key.hidden) == 1 then
    local hidden = nearest(key.hidden, slot, card.latitude, card.longitude, LIVE_METRES, PICTURE_MAX, SEARCH_MAX,
      card.reach)
    for _, one in ipairs(hidden) do list[#list + 1] = one end
    table.sort(list, function(one, other)
      if one.metres ~= other.metres then return one.metres < other.metres end
      return one.slot < other.slot
    end)
  end
  return list
end

-- Tells the watchers of a listener where it is now, or that it is gone, and the newly near that it is there.
-- `card` is nil when nobody here may see it; `may(slots)` says which viewers may; `found` are those around.
local function show(slot, card, may, is_forced, found)
  local old = read_card(read('HGET', key.cards, slot))
  load_lists('watchers', {slot})
  local watching = members('watchers', slot)
  load_lists('pictures', watching)
  if not card then
    load_names(watching)
    for _, viewer in ipairs(watching) do
      part(slot, viewer)
      tell_gone(viewer, slot)
    end
    if old then write('HDEL', key.cards, slot) end
    write('ZREM', key.shown, slot)
    return
  end
  local latitude, longitude, told_latitude, told_longitude
  if old then latitude, longitude, told_latitude, told_longitude = places_in(old) end
  local has_moved = latitude ~= card.latitude or longitude ~= card.longitude
  local candidates = {}
  if has_moved or is_forced then
    candidates = audience(slot, card, found)
  end
  local far = not told_latitude
    or metres(told_latitude, told_longitude, card.latitude, card.longitude) > MOVE_METRES
  card.told_latitude = far and card.latitude or told_latitude
  card.told_longitude = far and card.longitude or told_longitude

  local asked, new = {}, {}
  local is_watching = {[slot] = true}
  for place, viewer in ipairs(watching) do asked[place], is_watching[viewer] = viewer, true end
  local known, unknown = {}, {}
  for place, one in ipairs(candidates) do
    known[one.slot] = one.metres
    if place <= PICTURE_MAX and not is_watching[one.slot] then
      asked[#asked + 1] = one.slot
      new[#new + 1] = one
    end
  end
  for _, viewer in ipairs(watching) do
    if not known[viewer] then unknown[#unknown + 1] = viewer end
  end
  for _, name in ipairs({key.shown, key.hidden}) do
    for viewer, distance in pairs(distances(name, unknown, card.latitude, card.longitude)) do
      known[viewer] = distance
    end
  end
  load_names(asked)
  local allowed = may(asked)
  for _, viewer in ipairs(watching) do
    local distance = known[viewer]
    if not (distance and allowed[viewer]) or distance > reach_of(viewer) then
      part(slot, viewer)
      tell_gone(viewer, slot)
    elseif far then
      tell_here('nearby:move', viewer, card.text, distance)
    end
  end
  local fresh = {}
  for place, one in ipairs(new) do fresh[place] = one.slot end
  load_lists('pictures', fresh)
  local refills = 0
  for _, one in ipairs(new) do
    local viewer = one.slot
    if count_in('watchers', slot) >= WATCHERS_MAX then break end
    if allowed[viewer] and one.metres <= reach_of(viewer) then
      local has_room = count_in('pictures', viewer) < PICTURE_MAX
      if not has_room and refills < REFILLS_MAX then
        refills = refills + 1
        local there = read('GEOPOS', key.shown, viewer)[1] or read('GEOPOS', key.hidden, viewer)[1]
        has_room = refill(viewer, {latitude = tonumber(there[2]), longitude = tonumber(there[1])}, slot, one.metres)
      end
      if has_room then
        join(slot, viewer)
        tell_here('nearby:enter', viewer, card.text, one.metres)
      end
    end
  end
  keep_card(slot, card)
  if has_moved then write('ZADD', key.shown, geo_score(card.latitude, card.longitude), slot) end
end

-- Chooses the picture of a viewer anew, the PICTURE_KEPT nearest of `found`; the cards of the first have been loaded.
-- `sees(slots)` says whom it may see. Returns the listeners, {slot, metres, card}, nearest first, and a set of their
-- slots.
local function look(viewer, found, sees)
  load_lists('pictures', {viewer})
  local had = {}
  for _, slot in ipairs(members('pictures', viewer)) do had[slot] = true end
  local chosen, is_chosen, first = {}, {}, 1
  while first <= #found and #chosen < PICTURE_KEPT do
    local slots = {}
    for place = first, math.min(first + PICTURE_KEPT, #found) do slots[#slots + 1] = found[place].slot end
    if first + PICTURE_KEPT > PICTURE_MAX + 1 then load_cards(found, first, first + PICTURE_KEPT) end
    load_lists('watchers', slots)
    local allowed = sees(slots)
    for place, slot in ipairs(slots) do
      local card = cards[slot]
      if slot ~= viewer and card and card.ends > now_ms and allowed[slot] and #chosen < PICTURE_KEPT
        and (had[slot] or count_in('watchers', slot) < WATCHERS_MAX) then
        chosen[#chosen + 1] = {slot = slot, metres = found[first + place - 1].metres, card = card}
        is_chosen[slot] = true
      end
    end
    first = first + #slots
  end
  return chosen, is_chosen
end

-- Takes over what `look` has chosen. With `is_told` the viewer hears what has changed; else an answer says it.
local function see(viewer, chosen, is_chosen, is_told)
  local old = members('pictures', viewer)
  load_lists('watchers', old)
  if is_told then load_names(old) end
  local had = {}
  for _, slot in ipairs(old) do
    had[slot] = true
    if not is_chosen[slot] then
      part(slot, viewer)
      if is_told then tell_gone(viewer, slot) end
    end
  end
  for _, one in ipairs(chosen) do
    if not had[one.slot] then
      join(one.slot, viewer)
      if is_told then tell_here('nearby:enter', viewer, text_in(one.card), one.metres) end
    end
  end
  set_reach(viewer, #chosen == PICTURE_KEPT and math.max(chosen[PICTURE_KEPT].metres, REACH_MIN) or LIVE_METRES)
end

-- A viewer is here no more.
local function look_away(viewer)
  load_lists('pictures', {viewer})
  local old = members('pictures', viewer)
  load_lists('watchers', old)
  for _, slot in ipairs(old) do part(slot, viewer) end
  write('ZREM', key.hidden, viewer)
end
