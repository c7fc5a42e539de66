-- @part     group
-- @summary  A new group. Needs the parts `conversation`, `message` and `member`.

-- Makes the group of those with the sorted `names`, at `created` ms.
local function open_group(names, title, created)
  local roll = load_roll(args.conversationId)
  for _, user in ipairs(names) do roll[user] = new_member(created) end
  write('HSET', key.facts, 'title', title, 'creator', args.userId, 'created', decimal(created), 'last',
    decimal(created))
  write('EXPIRE', key.facts, TTL_S)
  store_members(roll, names)
  move_lists(roll, names, nil, ',"members":["' .. table.concat(names, '","') .. '"],"title":' .. encode(title)
    .. ',"lastText":"","lastMs":' .. decimal(created) .. ',"by":"' .. args.userId .. '"')
end
