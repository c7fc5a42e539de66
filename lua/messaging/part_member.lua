-- @part     member
-- @summary  Who comes into a group and goes. Needs the parts `conversation` and `message`.

-- The list of every member has the ids of all members. 50 UUIDs have 1,800 bytes.
local MEMBERS_BYTES_MAX = 2500

-- Refuses a group of too many members, or of too long ids.
local function check_size(count, bytes)
  if count > MEMBERS_MAX then fail('too_many', 'A group has at most ' .. MEMBERS_MAX .. ' members') end
  if bytes > MEMBERS_BYTES_MAX then
    fail('too_many', 'The ids of all members of a group have at most ' .. MEMBERS_BYTES_MAX .. ' bytes together')
  end
end

local function title_of(facts_title)
  return type(facts_title) == 'string' and #facts_title <= 400 and facts_title or ''
end

-- Tells the lists of users who is in the group now.
local function tell_members(roll, users, title, words)
  local names = {}
  for user in pairs(roll) do names[#names + 1] = user end
  table.sort(names)
  local shared = ',"conversationId":"' .. conversation .. '","members":["' .. table.concat(names, '","')
    .. '"],"title":' .. encode(title) .. words
  for _, user in ipairs(users) do
    later('list_conversation', '{"userId":"' .. user .. '"' .. shared .. ',"unread":' .. decimal(roll[user].unread)
      .. (roll[user].wrote and ',"wrote":true}' or '}'))
  end
end

-- The words for a list about the newest message, for those who hear its sender.
local function newest_words(user)
  local message = newest()
  if not message or walled_from(message.sender)[user] then return '' end
  return ',"lastText":' .. encode(preview(message.text)) .. ',"lastId":"' .. message.id .. '","lastSenderId":"'
    .. message.sender .. '","lastMs":' .. decimal(message.ms)
end
