-- @part     mark
-- @summary  How far a member has received or read. Needs the parts `conversation` and `message`.
-- @type     mark {conversationId: string, userId: string, upTo: string, upToMs: int, unread: int}
-- @type     mark_moved {conversationId: string, userId: string, status: 'delivered'|'read', afterMs: int, upToMs: int,
--            upTo: string}

-- Milliseconds of `2026-11-21T10:20:05.123Z`; nil for anything else.
local function ms_of_iso(text)
  local pattern = '^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)%.?(%d*)Z$'
  local year, month, day, hour, minute, second, part = string.match(text, pattern)
  if not year or #part > 3 then return nil end
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  if month <= 2 then year, month = year - 1, month + 12 end
  local days = 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    + math.floor((153 * (month - 3) + 2) / 5) + day - 1 - 719468
  local ms = tonumber(part .. string.rep('0', 3 - #part))
  return ((days * 24 + tonumber(hour)) * 60 + tonumber(minute)) * 60000 + tonumber(second) * 1000 + ms
end

-- The time that `upTo` means: of a message, or as it stands; never after the newest message.
local function marked_ms()
  local known = read('HGET', key.messages, args.upTo)
  local message = known and message_of(args.upTo, known)
  local ms = message and message.ms or integer(args.upTo, 0, YEAR_9999_MS) or ms_of_iso(args.upTo)
  if not ms or ms < 0 then
    fail('not_found', 'upTo must be the id of a message here, or a time in ISO 8601 or milliseconds since 1970')
  end
  return math.min(ms, last_ms())
end

-- How many messages of others came after a time, among the newest UNREAD_MAX of all: as `recount` of the part `counts`.
local function unread_after(ms, user, walled)
  if ms >= last_ms() then return 0 end
  local count = 0
  for _, entry in ipairs(read('ZREVRANGEBYSCORE', key.order, '+inf', '(' .. decimal(ms), 'LIMIT', 0, UNREAD_MAX)) do
    local sender = string.match(entry, '^%S+')
    if sender ~= user and not walled[sender] then count = count + 1 end
  end
  return count
end

-- Moves a member's mark forward, and tells it by one event for all messages between the old place and the new one:
-- those of others with `afterMs` < timestampMs <= `upToMs` have the status now. A mark never goes back.
local function move_mark(status)
  local roll = load_roll(args.conversationId)
  local user, one = args.userId, need_member(roll, args.userId)
  local ms = marked_ms()
  if one.is_unknown then one.since = last_ms() end
  local old = status == 'read' and one.read or one.delivered
  if ms > old then
    local walled = walled_from(user)
    one.delivered = math.max(one.delivered, ms)
    if status == 'read' then
      one.read = ms
      local unread = unread_after(math.max(ms, one.since), user, walled)
      -- With the first mark the user is a stranger no more.
      if unread ~= one.unread or old == 0 then
        one.unread = unread
        move_lists(roll, {user}, nil, old == 0 and ',"opened":true' or nil)
      end
    end
    store_members(roll, {user})
    tell('messages:' .. status, {
      conversationId = conversation, userId = user, status = status, afterMs = old, upToMs = ms, upTo = iso(ms),
    }, walled)
    old = ms
  end
  return {conversationId = conversation, userId = user, upTo = iso(old), upToMs = old, unread = one.unread}
end
