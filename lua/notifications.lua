-- @command  notifications
-- @summary  A page of a user's notifications, and how many are unread.
-- @http     GET /v1/users/{userId}/notifications
-- @allow    user|service
-- @arg      userId user
-- @arg      after  id optional -- only those newer than this id, oldest first
-- @arg      before id optional -- only those older than this id
-- @arg      limit  int 1..100 = 50
-- @key      inbox  user:{userId}#inbox
-- @key      unread user:{userId}#unread
-- @returns  {notifications: [{id, type, title, body, data, timestamp, read}], unread, more}
-- @cost     O(log n + m) in stored notifications and those told
-- @weight   2000
-- @readonly
--
-- `more`: others lie beyond the last one, in the same direction. A page also ends at 768 KiB. An entry that notify.lua
-- did not write is left out.

local PAGE_BYTES_MAX = 786432

-- The bound of a range that excludes an id, or `open` when there is none.
local function bound(id, open)
  if not id then return open end
  local ms, n = string.match(id, '^(%d+)%-(%d+)$')
  if not (integer(ms, 0, INTEGER_MAX) and integer(n, 0, INTEGER_MAX)) or id == '0-0' then
    fail('bad_request', 'after and before are ids of notifications')
  end
  return '(' .. id
end

-- The notification of an entry without `read`; nil when it is none.
local function notification(entry)
  local fields, names = entry[2], {'type', 'title', 'body', 'data', 'timestamp'}
  local item = {id = entry[1]}
  for index, name in ipairs(names) do
    if fields[2 * index - 1] ~= name then return nil end
    item[name] = fields[2 * index]
  end
  item.data = stored_object(item.data)
  return item.data and #fields == 2 * #names and item
end

local low, high = bound(args.after, '-'), bound(args.before, '+')
local entries
if args.after then
  entries = read('XRANGE', key.inbox, low, high, 'COUNT', args.limit + 1)
else
  entries = read('XREVRANGE', key.inbox, high, low, 'COUNT', args.limit + 1)
end

local more = #entries > args.limit
if more then entries[#entries] = nil end
local ids = {}
for index, entry in ipairs(entries) do ids[index] = entry[1] end
local unread = #ids > 0 and read('SMISMEMBER', key.unread, unpack(ids))
local page, bytes = array(), 0
for index, entry in ipairs(entries) do
  local item = notification(entry)
  if item then
    item.read = unread[index] == 0
    local text = encode(item)
    bytes = bytes + #text
    if bytes > PAGE_BYTES_MAX and #page > 0 then
      more = true
      break
    end
    page[#page + 1] = raw(text)
  end
end
return {notifications = page, unread = read('SCARD', key.unread), more = more}
