-- @part     message
-- @summary  What a message is in Redis and on the wire, and how users' lists hear of it. Needs the part `conversation`.
-- @type     message {id: string, conversationId: string, senderId: string, text: string, timestamp: string,
--            timestampMs: int, status: 'sent'|'delivered'|'read', readBy: [string], modifiedAt?: string,
--            removed?: bool}

local PREVIEW_BYTES = 400

local function is_message_id(text)
  return #text <= 200 and string.find(text, '^[%w._~:-]+$') ~= nil
end

local function stored_message(sender, text, ms, changed_ms)
  return encode({s = sender, t = text, m = ms, e = changed_ms})
end

-- A message as stored: {id, sender, text, ms, changed, removed}; nil for what is none.
local function message_of(id, text)
  local value = decode(text)
  if type(value) ~= 'table' or not is_id(value.s) then return nil end
  local ms, changed = value.m, value.e
  if type(ms) ~= 'number' or ms ~= math.floor(ms) or ms < 0 or ms > YEAR_9999_MS then return nil end
  if changed ~= nil and (type(changed) ~= 'number' or changed < 0 or changed > YEAR_9999_MS) then return nil end
  if value.x then return {id = id, sender = value.s, text = '', ms = ms, removed = true} end
  if type(value.t) ~= 'string' then return nil end
  return {id = id, sender = value.s, text = value.t, ms = ms, changed = changed}
end

-- Who has received and who has read, for `message_text`: without those a viewer does not hear.
local function receipts_of(roll, walled)
  local readers, delivered, lately = {}, {user = '', ms = 0}, {user = '', ms = 0}
  for user, one in pairs(roll) do
    if not walled[user] then
      if one.read > 0 then readers[#readers + 1] = {user = user, ms = one.read} end
      local mark = {user = user, ms = math.max(one.delivered, one.read)}
      if mark.ms > delivered.ms then
        delivered, lately = mark, delivered
      elseif mark.ms > lately.ms then
        lately = mark
      end
    end
  end
  table.sort(readers, function(one, other)
    if one.ms ~= other.ms then return one.ms > other.ms end
    return one.user < other.user
  end)
  return {readers = readers, delivered = delivered, lately = lately}
end

-- A message as clients read it, JSON text. It is delivered when one recipient has it, and read when one has read it.
local function message_text(message, receipts)
  local read_by, status = {}, 'sent'
  for _, reader in ipairs(receipts.readers) do
    if reader.ms < message.ms then break end
    if reader.user ~= message.sender then read_by[#read_by + 1] = '"' .. reader.user .. '"' end
  end
  local delivered = receipts.delivered.user ~= message.sender and receipts.delivered or receipts.lately
  if #read_by > 0 then status = 'read' elseif delivered.ms >= message.ms then status = 'delivered' end
  return '{"id":"' .. message.id .. '","conversationId":"' .. conversation .. '","senderId":"' .. message.sender
    .. '","text":' .. encode(message.text) .. ',"timestamp":"' .. iso(message.ms) .. '","timestampMs":'
    .. decimal(message.ms) .. ',"status":"' .. status .. '","readBy":[' .. table.concat(read_by, ',') .. ']'
    .. (message.changed and ',"modifiedAt":"' .. iso(message.changed) .. '"' or '')
    .. (message.removed and ',"removed":true}' or '}')
end

-- The beginning of a text, cut between two characters.
local function preview(text)
  if #text <= PREVIEW_BYTES then return text end
  local place = PREVIEW_BYTES
  while place > 0 and (string.byte(text, place + 1) or 0) >= 128 and string.byte(text, place + 1) < 192 do
    place = place - 1
  end
  return string.sub(text, 1, place)
end

-- Members of a roll who hear what a user does, the user among them.
local function hearers(roll, walled)
  local users = {}
  for user in pairs(roll) do
    if not walled[user] then users[#users + 1] = user end
  end
  return users
end

-- The words for lists about their newest message; nil for none.
local function preview_words(message)
  if not message then return ',"lastText":"","lastMs":' .. decimal(last_ms()) end
  return ',"lastText":' .. encode(preview(message.text)) .. ',"lastId":"' .. message.id .. '","lastSenderId":"'
    .. message.sender .. '","lastMs":' .. decimal(message.ms)
end

-- Tells the lists of users how many messages they have not read. `words` is what they are told of the newest message: a
-- text, a function that makes one for a user, or nil when it is as before. `more` is text for all of them. With
-- `is_again` nothing has changed since lists were told last.
local function move_lists(roll, users, words, more, is_again)
  if #users == 0 then return end
  more = (more or '') .. ',"version":' .. list_version(is_again) .. '}'
  for _, user in ipairs(users) do
    local own = type(words) == 'function' and words(user) or words or ''
    later('list_conversation', '{"userId":"' .. user .. '","conversationId":"' .. conversation .. '","unread":'
      .. decimal(roll[user].unread) .. (roll[user].wrote and ',"wrote":true' or '') .. own .. more)
  end
end

-- Tells the list of a user who is in the conversation no more. It is `traced` where the group still knows of the user.
local function leave_list(user, is_traced)
  later('list_conversation', '{"userId":"' .. user .. '","conversationId":"' .. conversation
    .. '","unread":0,"gone":true' .. (is_traced and ',"traced":true' or '') .. ',"version":' .. list_version() .. '}')
end

-- Has the text of a message cut out of the log of the conversation, where it was said at a time, and its beginning out
-- of the logs of the members' own topics.
local function cut_text(roll, message, said_ms)
  later('cut_log', {conversationId = conversation, messageId = message.id, at = said_ms})
  for user, one in pairs(roll) do
    if not one.is_unknown then later('forget_preview', {userId = user, messageId = message.id}) end
  end
end
