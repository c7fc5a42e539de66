-- @part    rights
-- @summary Who may see whom: nobody who blocked, was blocked or mutes, and followers only where a listener says so.
--
-- Most of it lies in keys of the one listener that acts, whichever side it is on:
-- user:U#blocks, user:U#blockers   whom U has blocked, and who has blocked U
-- user:U#mutes, user:U#muters      whom U mutes and is not shown, and who mutes U and is not shown U
-- user:U#followers                 who may see U when only followers may; U names them
-- user:U#sees                      whose follower U is: the other side of the same
-- The notes of who blocks or mutes U have an end (people/blocked_by.lua). So the cell keeps of each listener whom it
-- blocks and mutes itself:
-- cell:C#apart                     a hash: slot -> a mark for each, MARKS.bytes of a digest, then a blank for who is
--                                  blocked and a `-` for who is muted

local MARKS = {bytes = 8, most = BLOCKS_MAX} -- of either kind at most; MUTES_MAX is the same number

local function mark_of(user)
  return string.sub(sha1(user), 1, MARKS.bytes)
end

-- Keeps the marks of the listener that acts, in its slot. They are made anew when their number is another or rights
-- may have changed.
local function keep_marks(slot, has_rights)
  local blocked, muted = read('SCARD', key.blocks), read('SCARD', key.mutes)
  local text = read('HGET', key.apart, slot) or ''
  if blocked + muted == 0 then
    if text ~= '' then write('HDEL', key.apart, slot) end
    return
  end
  local count = math.min(blocked, MARKS.most) + math.min(muted, MARKS.most)
  if not has_rights and #text == count * (MARKS.bytes + 1) then return end
  local marks = {}
  for name, ending in pairs({[key.blocks] = ' ', [key.mutes] = '-'}) do
    for _, user in ipairs(read('SRANDMEMBER', name, MARKS.most)) do marks[#marks + 1] = mark_of(user) .. ending end
  end
  write('HSET', key.apart, slot, table.concat(marks))
end

-- Adds to `noted` the slots whose listeners are members of a set. Their names must have been loaded.
local function note_members(noted, name, slots)
  local users, at = {}, {}
  for _, slot in ipairs(slots) do
    if names[slot] then
      users[#users + 1] = names[slot]
      at[#users] = slot
    end
  end
  if #users == 0 then return end
  for place, is_member in ipairs(read('SMISMEMBER', name, unpack(users))) do
    if is_member == 1 then noted[at[place]] = true end
  end
end

-- Which of some are refused: by a block of either side, or by the mutes of one, key.mutes or key.muters.
local function refused_of(slots, quiet)
  local refused = {}
  if #slots == 0 then return refused end
  -- Listeners that block the one that acts, or mute it where that counts.
  local marks = read('EXISTS', key.apart) == 1 and read('HMGET', key.apart, unpack(slots)) or {}
  local mark, is_muted = #marks > 0 and mark_of(args.userId), quiet ~= key.mutes
  for place, text in ipairs(marks) do
    if text and (string.find(text, mark .. ' ', 1, true) or is_muted and string.find(text, mark .. '-', 1, true)) then
      refused[slots[place]] = true
    end
  end
  if read('EXISTS', key.blocks, key.blockers, quiet) > 0 then
    load_names(slots)
    note_members(refused, key.blocks, slots)
    note_members(refused, key.blockers, slots)
    note_members(refused, quiet, slots)
  end
  return refused
end

-- A function that says which of some viewers may see the listener that acts.
local function viewers_of(settings)
  return function(slots)
    local allowed, refused, followers = {}, refused_of(slots, key.muters), {}
    if settings.visible == 'followers' then
      load_names(slots)
      note_members(followers, key.followers, slots)
    end
    for _, slot in ipairs(slots) do
      allowed[slot] = not refused[slot] and (settings.visible == 'everyone' or followers[slot] == true)
    end
    return allowed
  end
end

-- Which of some listeners, whose cards were loaded, the one that acts may see.
local function seen_by(slots)
  local allowed, refused, guarded, open = {}, refused_of(slots, key.mutes), {}, {}
  for _, slot in ipairs(slots) do
    if cards[slot] and is_for_followers(cards[slot]) then guarded[#guarded + 1] = slot end
  end
  if #guarded > 0 then
    load_names(guarded)
    note_members(open, key.sees, guarded)
  end
  for _, slot in ipairs(slots) do
    local card = cards[slot]
    allowed[slot] = card and not refused[slot] and (open[slot] or not is_for_followers(card))
  end
  return allowed
end
