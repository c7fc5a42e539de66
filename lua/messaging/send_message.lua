-- @command  send_message
-- @summary  Send a message to a conversation. It is stored once for its id; a retry is answered with what is stored.
-- @http     POST /v1/conversations/{conversationId}/messages 201
-- @allow    user|service
-- @arg      conversationId id fold pair -- of a group, or the ids of the two users, joined by _
-- @arg      messageId      id as id -- made by the client; nobody else can use it in this conversation
-- @arg      userId         user -- who sends
-- @arg      text           string 1..TEXT_MAX
-- @include  pair
-- @include  conversation
-- @include  message
-- @key      facts    conversation:{conversationId}#facts
-- @key      roll     conversation:{conversationId}#roll
-- @key      messages conversation:{conversationId}#messages
-- @key      order    conversation:{conversationId}#order
-- @key      removed  conversation:{conversationId}#removed
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @topic    conversation:{conversationId}
-- @calls    list_conversation
-- @emits    message:added message
-- @emits    messages:changed {conversationId: string} -- in its place where a member blocks another: read anew
-- @returns  message
-- @errors   forbidden, blocked 403, conflict, rate_limited
-- @cost     O(n) in the members, at most 50
-- @weight   2000
-- @rate     240/60 s user
-- @rate     5000/86400 s user
-- @rate     100/86400 s user marked
-- @idempotent
--
-- Times of messages always grow, so that they are the order for everybody. A message is kept until MESSAGES_MAX newer
-- ones are there, or nobody has written for a year.

local MESSAGES_MAX = 10000
local LEAVE_MAX = 4 -- in one run, where there are more than may be

-- The message that is among the newest UNREAD_MAX no more is counted no more. Returns those of the walled whose count
-- that changes.
local function pass_oldest(roll, walled)
  local others = {}
  local entry = read('ZREVRANGE', key.order, UNREAD_MAX - 1, UNREAD_MAX - 1, 'WITHSCORES')
  local from, ms = string.match(entry[1] or '', '^(%S+)'), integer(entry[2], 0, YEAR_9999_MS)
  if not (from and ms) then return others end
  for user, one in pairs(roll) do
    if user ~= from and one.unread > 0 and math.max(one.read, one.since) < ms and not walled_from(user)[from] then
      one.unread = one.unread - 1
      if walled[user] then others[#others + 1] = user end
    end
  end
  return others
end

local roll = load_roll(args.conversationId)
local sender = need_member(roll, args.userId)
local walled = walled_from(args.userId)
local known = read('HGET', key.messages, args.messageId)
if known then
  local message = message_of(args.messageId, known)
  if not message or message.sender ~= args.userId then fail('conflict', 'This id belongs to another message') end
  return raw(message_text(message, receipts_of(roll, walled)))
end
if is_direct and next(walled) then fail('blocked', 'One of you blocks the other') end
local last = last_ms()
local ms = math.max(now_ms, last + 1)
-- A clock may have gone back since somebody came in.
for _, one in pairs(roll) do ms = math.max(ms, one.since + 1) end
if is_direct and last == 0 then counted('You have begun many conversations; write to new users tomorrow') end
if ms > YEAR_9999_MS then fail('conflict', 'The conversation holds a time that none can follow') end

local leaving = read('ZCARD', key.order) + 1 - MESSAGES_MAX
if leaving > 0 then
  local oldest, ids = read('ZRANGE', key.order, 0, math.min(leaving, LEAVE_MAX) - 1), {}
  for index, entry in ipairs(oldest) do ids[index] = string.match(entry, ' (%S+)$') or entry end
  write('ZREM', key.order, unpack(oldest))
  write('HDEL', key.messages, unpack(ids))
end
write('HSET', key.messages, args.messageId, stored_message(args.userId, args.text, ms))
write('ZADD', key.order, decimal(ms), args.userId .. ' ' .. args.messageId)
write('HSET', key.facts, 'last', decimal(ms))
sender.wrote = true
local hearing = {args.userId}
for user, one in pairs(roll) do
  if user ~= args.userId and not walled[user] then
    one.unread = one.unread + 1
    hearing[#hearing + 1] = user
  end
end
local others = pass_oldest(roll, walled)
for _, one in pairs(roll) do one.unread = math.min(one.unread, UNREAD_MAX) end
store_members(roll, hearing)
store_members(roll, others)
for _, name in ipairs({key.messages, key.order, key.facts}) do write('EXPIRE', name, TTL_S) end
-- Blocks and the ids of removed messages live as long as the conversation; once a day is enough for them.
if math.floor(ms / DAY_MS) > math.floor(last / DAY_MS) then
  for _, name in ipairs({key.walls, key.removed}) do write('EXPIRE', name, TTL_S) end
end

local message = {id = args.messageId, sender = args.userId, text = args.text, ms = ms}
local text = message_text(message, receipts_of({}, NOBODY))
tell('message:added', text, walled)
move_lists(roll, hearing, preview_words(message))
move_lists(roll, others)
return raw(text)
