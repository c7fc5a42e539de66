-- @command  notifications
-- @summary  A page of a user's notifications, and how many are unread.
-- @http     GET /v1/users/{userId}/notifications
-- @allow    user|service
-- @arg      userId user
-- @arg      after  id optional -- only those newer than this id, oldest first
-- @arg      before id optional -- only those older than this id
-- @arg      limit  int 1..100 = 50
-- @include  json
-- @key      inbox  user:{userId}#inbox
-- @key      unread user:{userId}#unread
-- @returns  {notifications: [{id: string, type: string, title: string, body: string, data: object, timestamp: string,
--           titleKey?: string, bodyKey?: string, textArgs?: [string], read: bool}], unread: int, more: bool}
-- @cost     O(log n + m) in stored notifications and those told
-- @weight   600
-- @readonly
--
-- `more`: others lie beyond the last one, in the same direction. A page also ends before 16 KiB, but for its first
-- notification, so that no answer has more values than a client's JSON may have. An entry that notify.lua did not write
-- is left out.

local PAGE_BYTES_MAX = 16384
local CHUNK = 4 -- entries read at once: the bound in bytes stops the reading, not what is told only

-- The bound of a range that excludes an id, or `open` when there is none.
local function bound(id, open)
  if not id then return open end
  local ms, n = string.match(id, '^(%d+)%-(%d+)$')
  if not (integer(ms, 0, INTEGER_MAX) and integer(n, 0, INTEGER_MAX)) or id == '0-0' then
    fail('bad_request', 'after and before are ids of notifications')
  end
  return '(' .. id
end

-- The notification of an entry as text without its last member, `read`; nil when it is none.
local function notification(entry)
  local fields, names = entry[2], {'type', 'title', 'body', 'data', 'timestamp'}
  if #fields < 2 * #names then return nil end
  for index, name in ipairs(names) do
    if fields[2 * index - 1] ~= name then return nil end
  end
  if not stored(fields[8]) then return nil end
  local words = '' -- names of the app's own texts (part_inbox.lua)
  for index = 2 * #names + 1, #fields - 1, 2 do
    local name, value = fields[index], fields[index + 1]
    local list = name == 'textArgs' and string.byte(value) == 91 and decode(value)
    if name == 'titleKey' or name == 'bodyKey' then
      words = words .. ',"' .. name .. '":' .. encode(value)
    elseif type(list) == 'table' then
      words = words .. ',"textArgs":' .. encode(array(list))
    else
      return nil
    end
  end
  return '{"id":"' .. entry[1] .. '","type":' .. encode(fields[2]) .. ',"title":' .. encode(fields[4]) .. ',"body":'
    .. encode(fields[6]) .. ',"data":' .. fields[8] .. ',"timestamp":' .. encode(fields[10]) .. words .. ',"read":'
end

local low, high = bound(args.after, '-'), bound(args.before, '+')

-- The next entries of the range, and where the range goes on.
local function next_entries(count)
  local entries
  if args.after then
    entries = read('XRANGE', key.inbox, low, high, 'COUNT', count)
    if #entries > 0 then low = '(' .. entries[#entries][1] end
  else
    entries = read('XREVRANGE', key.inbox, high, low, 'COUNT', count)
    if #entries > 0 then high = '(' .. entries[#entries][1] end
  end
  return entries
end

local texts, ids, bytes, looked, more = {}, {}, 0, 0, false
while not more and looked <= args.limit do
  local count = math.min(CHUNK, args.limit + 1 - looked)
  local entries = next_entries(count)
  for _, entry in ipairs(entries) do
    looked = looked + 1
    for _, text in ipairs(entry[2]) do bytes = bytes + #text end
    more = looked > args.limit or bytes > PAGE_BYTES_MAX and #texts > 0
    if more then break end
    local text = notification(entry)
    if text then texts[#texts + 1], ids[#ids + 1] = text, entry[1] end
  end
  if #entries < count then break end
end

local flags = #ids > 0 and read('SMISMEMBER', key.unread, unpack(ids))
for index, text in ipairs(texts) do texts[index] = text .. (flags[index] == 0 and 'true}' or 'false}') end
return {
  notifications = raw('[' .. table.concat(texts, ',') .. ']'), unread = read('SCARD', key.unread), more = more,
}
