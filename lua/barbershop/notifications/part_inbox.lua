-- @part     inbox
-- @summary  Put a notification into a user's inbox. Needs the part `pushes`, and the keys `inbox` and `unread`.
-- @type     notification {id: string, type: string, title: string, body: string, data: object, timestamp: string,
--            titleKey?: string, bodyKey?: string, textArgs?: [string]}
--
-- user:U#inbox is a stream that keeps the newest 500 for 90 days: fields type, title, body, data (JSON object),
-- timestamp (ISO 8601), and where the app has the words: titleKey, bodyKey, textArgs (JSON array).
-- Ids are `<ms>-<n>` and always grow, also when the clock goes back. An entry that leaves
-- the inbox is not unread (user:U#unread, a set).

local INBOX_MAX = 500
local LEAVE_MAX = 100 -- in one run, when others filled the inbox
local INBOX_TTL_S = 7776000

-- The id of an entry that comes after every other.
local function next_id()
  if read('EXISTS', key.inbox) == 0 then return decimal(now_ms) .. '-0' end
  local facts, last = read('XINFO', 'STREAM', key.inbox), nil
  for index = 1, #facts, 2 do
    if facts[index] == 'last-generated-id' then last = facts[index + 1] end
  end
  local ms, n = string.match(last or '', '^(%d+)%-(%d+)$')
  ms, n = integer(ms, 0, INTEGER_MAX - 1), integer(n, 0, INTEGER_MAX - 1)
  if not (ms and n) then fail('conflict', 'The inbox holds an id that no id of ours can follow') end
  if now_ms > ms then return decimal(now_ms) .. '-0' end
  return decimal(ms) .. '-' .. decimal(n + 1)
end

-- Puts a notification into the inbox and tells the user's devices; `data` is a stored object, and `keys` may have
-- titleKey, bodyKey and textArgs. Returns its id.
local function put_notification(kind, title, text, data, keys)
  local count = read('XLEN', key.inbox)
  local id, timestamp = next_id(), iso(now_ms)
  local leave = math.max(math.min(count + 1 - INBOX_MAX, LEAVE_MAX), 0)
  local fields = {'type', kind, 'title', title, 'body', text, 'data', data.text, 'timestamp', timestamp}
  for _, name in ipairs({'titleKey', 'bodyKey', 'textArgs'}) do
    if keys[name] then fields[#fields + 1], fields[#fields + 2] = name, keys[name] end
  end
  write('XADD', key.inbox, 'MAXLEN', '=', count + 1 - leave, id, unpack(fields))
  write('EXPIRE', key.inbox, INBOX_TTL_S)
  if leave > 0 then
    local gone = {}
    for index, entry in ipairs(read('XRANGE', key.inbox, '-', '+', 'COUNT', leave)) do gone[index] = entry[1] end
    write('SREM', key.unread, unpack(gone))
  end
  write('SADD', key.unread, id)
  write('EXPIRE', key.unread, INBOX_TTL_S)
  plan_push('n:' .. id)
  emit('user:' .. args.userId, 'notification', {
    id = id, type = kind, title = title, body = text, data = data, timestamp = timestamp, titleKey = keys.titleKey,
    bodyKey = keys.bodyKey, textArgs = keys.textArgs and raw(keys.textArgs),
  })
  return id
end
