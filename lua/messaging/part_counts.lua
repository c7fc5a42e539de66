-- @part     counts
-- @summary  What a member has not read and which message is the newest, counted anew. Needs `message` and `cleared`.
--
-- Both are about the newest UNREAD_MAX messages of the conversation that were not removed, without those of users whom
-- the member does not hear. `unread` in the roll is always what `recount` would give.

local CHUNK = 50

local window, is_whole = {}, false -- those that were read: {sender, id, ms}, newest first
local looked_at = 0
local is_gone -- whether this run takes a message away: a function of its sender and id

-- The n-th of the newest messages; nil when there are fewer.
local function window_at(n)
  while n > #window and n <= UNREAD_MAX and not is_whole do
    local entries = read('ZREVRANGE', key.order, looked_at, looked_at + CHUNK - 1, 'WITHSCORES')
    looked_at, is_whole = looked_at + CHUNK, #entries < 2 * CHUNK
    for index = 1, #entries, 2 do
      local sender, id = string.match(entries[index], '^(%S+) (%S+)$')
      local ms = integer(entries[index + 1], 0, YEAR_9999_MS)
      if ms and is_message_id(id) and not (is_gone and is_gone(sender, id)) then
        window[#window + 1] = {sender = sender, id = id, ms = ms}
      end
    end
  end
  return n <= UNREAD_MAX and window[n] or nil
end

-- From when on a member has not read.
local function mark_of(one)
  return math.max(one.read, one.since)
end

local walls_now -- in a run that changes who is walled off from whom: a function of a user, in place of what is stored
local has_walls

-- Users who neither hear nor are heard by a user, by id.
local function walls_of(user)
  if walls_now then return walls_now(user) end
  if has_walls == nil then
    has_walls = is_direct and next(walled_from(first)) ~= nil or not is_direct and read('HLEN', key.walls) > 0
  end
  return has_walls and walled_from(user) or NOBODY
end

-- Counts what some members have not read, into the roll. One look at the messages is enough for all of them: from the
-- newest on, those by each sender are counted until the next member's mark.
local function recount(roll, users)
  local marks, total, by_sender, place = {}, 0, {}, 1
  for index, user in ipairs(users) do marks[index] = {user = user, ms = mark_of(roll[user])} end
  table.sort(marks, function(one, other) return one.ms > other.ms end)
  for _, mark in ipairs(marks) do
    local message = window_at(place)
    while message and message.ms > mark.ms do
      total, by_sender[message.sender] = total + 1, (by_sender[message.sender] or 0) + 1
      place = place + 1
      message = window_at(place)
    end
    local unread = total - (by_sender[mark.user] or 0)
    if unread > 0 then
      for other in pairs(walls_of(mark.user)) do unread = unread - (by_sender[other] or 0) end
    end
    roll[mark.user].unread = unread
  end
end

local stored_texts = {} -- messages that were read, by their ids

-- The newest message that a member sees; nil when there is none.
local function newest_for(user)
  local walled, place, after = walls_of(user), 1, cleared_ms(user)
  local entry = window_at(place)
  while entry and entry.ms > after do
    if not walled[entry.sender] then
      if stored_texts[entry.id] == nil then
        stored_texts[entry.id] = message_of(entry.id, read('HGET', key.messages, entry.id)) or false
      end
      local message = stored_texts[entry.id]
      if message and not message.removed then return message end
    end
    place = place + 1
    entry = window_at(place)
  end
end

-- The words for a member's list about the newest message.
local function newest_words(user)
  return preview_words(newest_for(user))
end
