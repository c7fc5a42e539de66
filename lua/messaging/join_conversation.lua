-- @summary   Who may join a conversation, and what it is as the caller sees it: members and the last 50 messages.
-- @subscribe conversation
-- @include   pair
-- @include   conversation
-- @include   message
-- @include   cleared
-- @include   page
-- @key       facts    conversation:{id}#facts
-- @key       roll     conversation:{id}#roll
-- @key       messages conversation:{id}#messages
-- @key       order    conversation:{id}#order
-- @key       walls    conversation:{id}#walls
-- @key       pair     pair:{id}#blocks
-- @key       online   conversation:{id}#online
-- @returns   {conversationId: string, title: string, members: [{userId: string, deliveredMs: int, readMs: int,
--            online: bool, lastSeen: string|null}], messages: [message], next: int|null, unread: int}
-- @errors    forbidden
-- @cost      O(log n + m) in stored messages and the 50 told, and O(k) in the members, at most 50
-- @weight    2000
--
-- A member is {userId, deliveredMs, readMs, online, lastSeen}. Either user of a direct conversation may join before its
-- first message. `messages` and `next` are the first page of the command `messages`. `lastSeen` is null for who
-- is not shown: who has neither written nor read here, or is walled off from the caller.

local STATE_MESSAGES = 50

local roll = load_roll(args.id)
local walled = NOBODY
if caller.role ~= 'service' then
  need_member(roll, caller.user)
  walled = walled_from(caller.user)
end
local found, online, members = read('HGETALL', key.online), {}, {}
for index = 1, #found, 2 do online[found[index]] = found[index + 1] end
for user, one in pairs(roll) do
  local flag, seen = string.match(not walled[user] and is_shown(one) and online[user] or '', '^([01]) (%d+)$')
  seen = integer(seen, 0, YEAR_9999_MS)
  members[#members + 1] = '{"userId":"' .. user .. '","deliveredMs":' .. decimal(walled[user] and 0 or one.delivered)
    .. ',"readMs":' .. decimal(walled[user] and 0 or one.read) .. ',"online":' .. tostring(seen ~= nil and flag == '1')
    .. ',"lastSeen":' .. (seen and '"' .. iso(seen) .. '"' or 'null') .. '}'
end
table.sort(members)
local texts, older = page_before(nil, STATE_MESSAGES, receipts_of(roll, walled), walled, cleared_ms(caller.user))
local title = read('HGET', key.facts, 'title')
return {
  conversationId = args.id, title = title or '', members = raw('[' .. table.concat(members, ',') .. ']'),
  messages = raw('[' .. table.concat(texts, ',') .. ']'), next = older or null,
  unread = caller.user and roll[caller.user] and roll[caller.user].unread or 0,
}
