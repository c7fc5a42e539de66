-- @part     member
-- @summary  Who comes into a group and goes. Needs the parts `conversation`, `message` and `counts`.

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

-- The words for lists about who is in the group now; `title` when this run changes it.
local function members_words(roll, title)
  local names = {}
  for user in pairs(roll) do names[#names + 1] = user end
  table.sort(names)
  return ',"members":["' .. table.concat(names, '","') .. '"],"title":'
    .. encode(title or title_of(read('HGET', key.facts, 'title')))
end

-- Tells the list of one member all about the group: the members, and the newest message that the member sees, by
-- `words_for`.
local function tell_whole(roll, user, words_for, more, is_again)
  move_lists(roll, {user}, words_for, members_words(roll) .. (more or ''), is_again)
end
