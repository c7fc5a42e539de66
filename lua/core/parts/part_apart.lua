-- @part     apart
-- @summary  Who of those at one place blocks whom: what a user is not shown there, and what is not told there.
--
-- A place is where users meet who need not know each other: a listening session, a shop. Blocks lie at the home of who
-- blocks (people/block.lua). A place has a copy for those who have come to it, in the key `apart`, a hash:
--   `>A`  the users whom A blocks, at most BLOCKS_MAX ids, each with a blank behind it
--   `<B`  those at the place who block B, as far as they fit into LISTED_BYTES_MAX; a `*` at the end, which stays, says
--         that there were more
-- Neither of two users is shown the other when one of them blocks the other. A read is made for its caller and leaves
-- out. An event is the same for all who listen, so what it tells of a user is left out of it while somebody is there
-- who must not be shown it; who may be shown it asks by a read.
-- A pair that cannot be looked at within the bounds counts as blocked.

local LISTED_BYTES_MAX = 4096
local LOOKED_MAX = 480 -- ids that one run looks for among those who are there
local OTHERS_MAX = 40 -- users whose own blocks one run reads
local CHUNK = 10

local kept = {} -- what this run has kept of users' own lists, since a body does not read what it writes

-- Adds the ids of a list to others while these are fewer than `most`; returns whether there was room for all.
local function add_ids(ids, list, most)
  local find, sub, count, first = string.find, string.sub, #ids, 1
  local last = find(list, ' ', 1, true)
  while last do
    if count == most then return false end
    count = count + 1
    ids[count] = sub(list, first, last - 1)
    first = last + 1
    last = find(list, ' ', first, true)
  end
  return true
end

-- Whether a list has a user.
local function has_user(list, user)
  return string.find(list, ' ' .. user .. ' ', 1, true) ~= nil or string.sub(list, 1, #user + 1) == user .. ' '
end

-- Whether a list says that there are more than it has.
local function has_more(list)
  return string.byte(list, -1) == 42
end

-- A list without a user.
local function without_user(list, user)
  if not has_user(list, user) then return list end
  local padded = ' ' .. list
  local first, last = string.find(padded, ' ' .. user .. ' ', 1, true)
  return string.sub(padded, 2, first) .. string.sub(padded, last + 1)
end

-- A list with a user who is not in it.
local function with_user(list, user)
  local more = has_more(list)
  if #list + #user >= LISTED_BYTES_MAX then return more and list or list .. '*' end
  return more and string.sub(list, 1, -2) .. user .. ' *' or list .. user .. ' '
end

-- Keeps whom a user at the place blocks now, all of them.
local function keep_blocks(user, blocked)
  local before, was, now, changed = {}, {}, {}, {}
  add_ids(before, read('HGET', key.apart, '>' .. user) or '', BLOCKS_MAX)
  for _, other in ipairs(before) do was[other] = true end
  for index, other in ipairs(blocked) do
    if index > BLOCKS_MAX then break end
    if is_id(other) and not now[other] then
      now[other] = true
      now[#now + 1] = other
      if not was[other] then changed[#changed + 1] = other end
    end
  end
  for _, other in ipairs(before) do
    if not now[other] then changed[#changed + 1] = other end
  end
  if #changed == 0 then return end
  kept[user] = table.concat(now, ' ') .. ' '
  local fields, words, gone = {}, {}, {}
  for index, other in ipairs(changed) do fields[index] = '<' .. other end
  for index, text in ipairs(read('HMGET', key.apart, unpack(fields))) do
    local list = text and without_user(text, user) or ''
    if now[changed[index]] then list = with_user(list, user) end
    if list == '' then
      gone[#gone + 1] = fields[index]
    else
      words[#words + 1], words[#words + 2] = fields[index], list
    end
  end
  if #now > 0 then
    words[#words + 1], words[#words + 2] = '>' .. user, kept[user]
  else
    gone[#gone + 1] = '>' .. user
  end
  if #words > 0 then write('HSET', key.apart, unpack(words)) end
  if #gone > 0 then write('HDEL', key.apart, unpack(gone)) end
end

-- Which of some others a user is not shown, as a set.
local function hidden_from(user, others)
  local hidden, ids = {}, {}
  if not user or #others == 0 then return hidden end
  local lists = read('HMGET', key.apart, '>' .. user, '<' .. user)
  lists[1] = kept[user] or lists[1]
  if not lists[1] and not lists[2] then return hidden end
  add_ids(ids, lists[1] or '', BLOCKS_MAX)
  add_ids(ids, lists[2] or '', LISTED_BYTES_MAX)
  for _, other in ipairs(ids) do hidden[other] = true end
  if not lists[2] or not has_more(lists[2]) then return hidden end
  -- More block the user than the list has.
  for first = 1, #others, CHUNK do
    local last, fields = math.min(first + CHUNK - 1, #others), {}
    for place = first, last do fields[#fields + 1] = '>' .. others[place] end
    local texts = last <= OTHERS_MAX and read('HMGET', key.apart, unpack(fields))
    for place = first, last do
      local text = texts and texts[place - first + 1]
      if not texts or text and has_user(text, user) then hidden[others[place]] = true end
    end
  end
  hidden[user] = nil
  return hidden
end

-- Which of some users block or are blocked by somebody who is there, as a set. `are_there(ids)` returns a list that
-- says for each id whether that user is there, by 1.
local function apart_here(users, are_there)
  local apart = {}
  if #users == 0 or read('EXISTS', key.apart) == 0 then return apart end
  local ids, of = {}, {}
  for first = 1, #users, CHUNK do
    local last, fields = math.min(first + CHUNK - 1, #users), {}
    for place = first, last do
      fields[#fields + 1], fields[#fields + 2] = '>' .. users[place], '<' .. users[place]
    end
    local texts = #ids < LOOKED_MAX and read('HMGET', key.apart, unpack(fields))
    for place = first, last do
      local user, at = users[place], 2 * (place - first)
      local blocked, blockers = texts and texts[at + 1] or '', texts and texts[at + 2] or ''
      local begin = #ids
      local is_whole = texts and add_ids(ids, blocked, LOOKED_MAX) and add_ids(ids, blockers, LOOKED_MAX)
      for index = begin + 1, #ids do of[index] = user end
      if not is_whole or has_more(blockers) then apart[user] = true end
    end
  end
  for index, is_there in ipairs(#ids > 0 and are_there(ids) or {}) do
    if is_there == 1 then apart[of[index]] = true end
  end
  return apart
end
