-- @part    sight
-- @summary Who is shown to whom when somebody moves, comes or goes; it stands on the part circle.

-- Makes room in a full picture for one more at a distance: the nearest stay. Whether the new one is of them.
local function refill(viewer, distance)
  local there = read('GEOPOS', key.shown, viewer)[1] or read('GEOPOS', key.hidden, viewer)[1]
  if not there then return false end
  local slots = members('pictures', viewer)
  local known = distances(key.shown, slots, tonumber(there[2]), tonumber(there[1]))
  -- Numbers alone are sorted at a fraction of what pairs would cost.
  local order = {distance}
  for _, slot in ipairs(slots) do order[#order + 1] = known[slot] or math.huge end
  table.sort(order)
  local most = density_within(order[PICTURE_KEPT]).kept
  local last, room = order[most], most
  for place = 1, most do
    if order[place] < last then room = room - 1 end
  end
  -- At the very distance of the last some have room, those who were there first.
  local kept, away = {}, {}
  for _, slot in ipairs(slots) do
    local far = known[slot] or math.huge
    if far == last and room > 0 then
      room = room - 1
      kept[#kept + 1] = slot
    elseif far < last then
      kept[#kept + 1] = slot
    else
      away[#away + 1] = slot
    end
  end
  load_lists('watchers', away)
  load_names(away)
  for _, slot in ipairs(away) do
    drop_one('watchers', slot, viewer)
    tell_gone(viewer, slot)
  end
  change('pictures', viewer, reach_text(math.max(last, REACH_MIN)) .. table.concat(kept))
  return distance < last or room > 0
end

-- Adds the hidden to those found around a place, as far as these are known. Returns also how far all are known.
local function add_hidden(found, card, complete)
  if read('EXISTS', key.hidden) == 0 then return found, complete end
  local list = within(key.hidden, card.latitude, card.longitude, math.max(complete, REACH_MIN), SEARCH_MAX)
  if #list == 0 then return found, complete end
  if #list == SEARCH_MAX then complete = 0 end
  for _, one in ipairs(found) do list[#list + 1] = one end
  sort_found(list)
  return list, complete
end

-- Metres to the watchers that were not found around; of those who are further away than they look, none.
local function add_distances(known, watching, card, complete)
  local unknown = {}
  for _, viewer in ipairs(watching) do
    if not known[viewer] and reach_of(viewer) > complete then unknown[#unknown + 1] = viewer end
  end
  for _, name in ipairs({key.shown, key.hidden}) do
    for viewer, distance in pairs(distances(name, unknown, card.latitude, card.longitude)) do
      known[viewer] = distance
    end
  end
end

-- Tells the watchers of a listener that it is gone.
local function vanish(slot, watching)
  load_lists('pictures', watching)
  load_names(watching)
  for _, viewer in ipairs(watching) do
    lose(viewer, slot)
    tell_gone(viewer, slot)
  end
  if #watching > 0 then change('watchers', slot, EMPTY) end
  write('HDEL', key.cards, slot)
  write('ZREM', key.shown, slot)
end

-- Tells the watchers of a listener where it is now, or that it is gone, and the newly near that it is there.
-- `card` is nil when nobody here may see it; `may(slots)` says which viewers may; `found` are those around, how far
-- these are all, and their density.
local function show(slot, card, may, is_forced, found, complete, density)
  load_lists('watchers', {slot})
  local watching = members('watchers', slot)
  if not card then return vanish(slot, watching) end
  local old = read('HGET', key.cards, slot)
  local latitude, longitude, told_latitude, told_longitude
  if is_card(old) then latitude, longitude, told_latitude, told_longitude = places_in(old) end
  local has_moved = latitude ~= card.latitude or longitude ~= card.longitude
  local far = not told_latitude
    or metres(told_latitude, told_longitude, card.latitude, card.longitude) > MOVE_METRES
  card.told_latitude = far and card.latitude or told_latitude
  card.told_longitude = far and card.longitude or told_longitude

  local asked, near, is_asked, known = {}, {}, {[slot] = true}, {}
  for place, viewer in ipairs(watching) do asked[place], is_asked[viewer] = viewer, true end
  found, complete = add_hidden(found, card, complete)
  for place, one in ipairs(found) do
    known[one[1]] = one[2]
    if (has_moved or is_forced) and place <= density.near and not is_asked[one[1]] then
      asked[#asked + 1] = one[1]
      near[#near + 1] = one
    end
  end
  load_lists('pictures', asked)
  add_distances(known, watching, card, complete)
  -- Asked for are the names and rights of those only who look as far.
  asked = watching
  local fresh = {}
  for _, one in ipairs(near) do
    if lives[one[1]] and one[2] <= reach_of(one[1]) then
      if #fresh == 0 then asked = {unpack(watching)} end
      fresh[#fresh + 1] = one
      asked[#asked + 1] = one[1]
    end
  end
  load_names(asked)
  local allowed = may(asked)
  local staying, tells = {}, 0
  for _, viewer in ipairs(watching) do
    local distance = known[viewer]
    if distance and lives[viewer] and allowed[viewer] and distance <= reach_of(viewer) then
      staying[#staying + 1] = viewer
      if far then
        tell_here('nearby:move', viewer, card.text, distance)
        tells = tells + 1
      end
    else
      lose(viewer, slot)
      tell_gone(viewer, slot)
      tells = tells + 1
    end
  end
  local refills, count = 0, #staying
  for _, one in ipairs(fresh) do
    local viewer = one[1]
    if #staying >= WATCHERS_MAX or tells >= density.told then break end
    if allowed[viewer] then
      local may_enter = has_room(viewer)
      if not may_enter and refills < REFILLS_MAX and reach_of(viewer) >= CROWD.within then
        refills = refills + 1
        may_enter = refill(viewer, one[2])
      end
      if may_enter then
        staying[#staying + 1] = viewer
        add_one('pictures', viewer, slot)
        tell_here('nearby:enter', viewer, card.text, one[2])
        tells = tells + 1
      end
    end
  end
  if count < #watching or count < #staying then change('watchers', slot, EMPTY .. table.concat(staying)) end
  keep_card(slot, card)
  if has_moved then write('ZADD', key.shown, geo_score(card.latitude, card.longitude), slot) end
end

-- Chooses the picture of a viewer anew, the nearest of `found`. `sees(slots)` says whom it may see.
-- Returns the chosen of `found`, nearest first, a set of their slots, and whether there may be more. Their cards have
-- been loaded.
local function look(viewer, found, sees, density)
  local kept = density.kept
  load_lists('pictures', {viewer})
  local had = {}
  for _, slot in ipairs(members('pictures', viewer)) do had[slot] = true end
  local chosen, is_chosen, first = {}, {}, 1
  while first <= #found and #chosen < kept do
    local slots = {}
    for place = first, math.min(first + kept, #found) do slots[#slots + 1] = found[place][1] end
    load_cards(found, first, first + kept)
    load_lists('watchers', slots)
    local allowed = sees(slots)
    for place, slot in ipairs(slots) do
      local card = cards[slot]
      if slot ~= viewer and card and end_of(card) > now_ms and allowed[slot] and #chosen < kept
        and (had[slot] or count_in('watchers', slot) < WATCHERS_MAX) then
        chosen[#chosen + 1] = found[first + place - 1]
        is_chosen[slot] = true
      end
    end
    first = first + #slots
  end
  return chosen, is_chosen, #chosen == kept
end

-- Takes over what `look` has chosen. With `is_told` the viewer hears what has changed; else an answer says it.
local function see(viewer, chosen, is_chosen, is_full, is_told)
  local old, had, slots = members('pictures', viewer), {}, {}
  load_lists('watchers', old)
  if is_told then load_names(old) end
  for _, slot in ipairs(old) do
    had[slot] = true
    if not is_chosen[slot] then
      drop_one('watchers', slot, viewer)
      if is_told then tell_gone(viewer, slot) end
    end
  end
  for place, one in ipairs(chosen) do
    local slot = one[1]
    slots[place] = slot
    if not had[slot] then
      add_one('watchers', slot, viewer)
      if is_told then tell_here('nearby:enter', viewer, text_in(cards[slot]), one[2]) end
    end
  end
  local reach = is_full and math.max(chosen[#chosen][2], REACH_MIN) or LIVE_METRES
  local text = reach_text(reach) .. table.concat(slots)
  if text ~= lists.pictures[viewer] or not lives[viewer] then change('pictures', viewer, text) end
end

-- A viewer is here no more.
local function look_away(viewer)
  load_lists('pictures', {viewer})
  local old = members('pictures', viewer)
  load_lists('watchers', old)
  for _, slot in ipairs(old) do drop_one('watchers', slot, viewer) end
  forget_picture(viewer)
  write('ZREM', key.hidden, viewer)
end
