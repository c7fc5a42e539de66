-- @part    settle
-- @summary Make one cell agree with what a listener's own keys say.

-- Has the other cells near a place and near the last one show a listener or take it out, by the outbox: all without
-- `done`. With `is_track` they tell the track alone.
local function settle_elsewhere(user, done, place, last, is_track)
  local seen = {[done] = true}
  for _, where in ipairs({place or false, last or false}) do
    for _, cell in ipairs(where and cells_of(where.latitude, where.longitude) or {}) do
      if not seen[cell] then later('sync_listener', {cell = cell, userId = user, isTrack = is_track}) end
      seen[cell] = true
    end
  end
end

-- The text of a listener's card.
local function card_text(user, settings, place, track)
  return '"id":"' .. user .. '","user":' .. user_text(user, settings, place, track)
end

-- Shows a listener in the cell of this script, as a viewer too when it is at home here. `place` nil takes it out.
-- `is_told` and `is_forced` as in part_sight; `has_rights` when rights may have changed. Returns what the listener
-- sees and whether there are more.
local function settle(user, place, settings, track, is_home, is_told, is_forced, has_rights)
  local slot = slot_of(user)
  if not (slot or place) then return end
  slot = slot or new_slot(user)
  load_lists('pictures', {slot})
  local found, complete, density, chosen, is_chosen, is_full, card = {}, LIVE_METRES, VILLAGE, nil, nil, nil, nil
  if place then
    -- Where others stand as close as before, so many are found.
    local seen = count_in('pictures', slot)
    local reach = seen > 0 and reach_of(slot) * math.sqrt(SEARCH_USUAL / seen) or LIVE_METRES
    found, complete = nearest(key.shown, slot, place.latitude, place.longitude, LIVE_METRES, VILLAGE.near, SEARCH_MAX,
      reach)
    density = density_of(found, slot)
    if settings.visible ~= 'nobody' then
      card = {latitude = place.latitude, longitude = place.longitude, visible = settings.visible,
        ends = place.at + SIGN_MS, text = card_text(user, settings, place, track)}
    end
    if is_home then
      chosen, is_chosen, is_full = look(slot, found, seen_by, density)
      if not is_full and complete < LIVE_METRES and #found < 2 * VILLAGE.near then
        -- Many of the nearest may not be seen.
        found, complete = nearest(key.shown, slot, place.latitude, place.longitude, LIVE_METRES, 2 * VILLAGE.near,
          SEARCH_MAX, complete * 1.5)
        chosen, is_chosen, is_full = look(slot, found, seen_by, density)
      end
    end
  end
  show(slot, card, viewers_of(settings), is_forced, found, complete, density)
  if chosen then
    see(slot, chosen, is_chosen, is_full, is_told)
    if card then
      write('ZREM', key.hidden, slot)
    else
      write('ZADD', key.hidden, geo_score(place.latitude, place.longitude), slot)
    end
  else
    look_away(slot)
  end
  keep_lists()
  if place then
    keep_marks(slot, has_rights)
    write('ZADD', key.signs, decimal(place.at + SIGN_MS), slot)
    write('EXPIRE', key.slots, decimal(SLOTS_TTL_S))
    write('EXPIRE', key.names, decimal(SLOTS_TTL_S))
  else
    write('ZREM', key.signs, slot)
    leave_slot(slot)
  end
  return chosen, chosen and (is_full or complete < LIVE_METRES)
end

-- Tells the watchers in the cell of this script what a listener plays, and counts it as a sign of life.
--
-- On a Redis Cluster this is a step, which the gateway and a worker may both make. A sign that was told of ends half a
-- millisecond later, so that the second one tells nothing.
local function sing(user, place, settings, track)
  local slot = slot_of(user)
  if not slot then return end
  local sign = decimal(place.at + SIGN_MS) .. (homes_apart and '.5' or '')
  if homes_apart and number(read('ZSCORE', key.signs, slot)) == number(sign) then return end
  local old = read('HGET', key.cards, slot)
  if is_card(old) and settings.visible ~= 'nobody' then
    load_lists('watchers', {slot})
    local watching = members('watchers', slot)
    load_names(watching)
    local allowed = viewers_of(settings)(watching)
    local data = encode({id = user, currentTrack = track})
    for _, viewer in ipairs(watching) do
      if allowed[viewer] and names[viewer] then tell_now('user:' .. names[viewer], 'nearby:track', data) end
    end
    local card = {visible = settings.visible, ends = place.at + SIGN_MS,
      text = card_text(user, settings, place, track)}
    card.latitude, card.longitude, card.told_latitude, card.told_longitude = places_in(old)
    if card.latitude then keep_card(slot, card) end
  end
  write('ZADD', key.signs, 'XX', sign, slot)
end
