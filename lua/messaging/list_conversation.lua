-- @command  list_conversation
-- @summary  Keep a user's list of conversations as the conversation says it is, and tell the user's devices.
-- @allow    worker
-- @arg      userId         id
-- @arg      conversationId id
-- @arg      unread         int 0..500
-- @arg      wrote          bool optional -- the user has written there
-- @arg      lastText       string 0..400 optional -- without it the newest message is as before
-- @arg      lastId         id optional -- without it there is none
-- @arg      lastSenderId   id optional
-- @arg      lastMs         time optional -- 0 leaves the conversation where it stands
-- @arg      members        ids 1..50 optional -- of a group, when they have changed
-- @arg      title          string 0..400 optional
-- @arg      by             id optional -- who has taken the user into the group
-- @arg      gone           bool optional -- the user is in it no more
-- @include  pair
-- @include  chats
-- @include  pushes
-- @key      chats     user:{userId}#chats
-- @key      order     user:{userId}#chat_order
-- @key      strangers user:{userId}#strangers
-- @key      groups    user:{userId}#groups
-- @key      spoken    user:{userId}#spoken
-- @key      blocks    user:{userId}#blocks
-- @key      blockers  user:{userId}#blockers
-- @key      mutes     user:{userId}#mutes
-- @key      shown     user:{userId}#shown
-- @key      awake     user:{userId}#awake
-- @key      counts    user:{userId}#chat_unread
-- @key      devices   user:{userId}#devices
-- @key      pushes    user:{userId}#pushes
-- @topic    user:{userId}
-- @calls    list_again, remove_member, change_walls, show_presence
-- @emits    conversation:updated {id, members, title, lastMessage, lastMessageTime, unread, muted} -- members if new
-- @emits    conversation:removed {id}
-- @returns  {listed}
-- @cost     O(log n) in the user's conversations, at most 1000, and O(m) in the members
-- @weight   1500
-- @idempotent
--
-- The list is bounded. Strangers can write to a user as they like, so those conversations in which the user has never
-- written are bounded for themselves: the oldest of them leave the list first. What has left it comes back with its
-- next message. Who is taken into a group by a user whom he blocks leaves it again. Groups are bounded in the same way:
-- for a new one a user leaves another in which he has never written. Only who has written in all of them stays out.

local STRANGERS_MAX = 200
local GROUPS_MAX = 200
local SPOKEN_MAX = 10000

local id = args.conversationId
local old = chat_of(read('HGET', key.chats, id))
local first, second = users_of(id)
local is_group = not first

-- Takes a conversation out of the list.
local function unlist(place)
  write('ZREM', key.order, place)
  write('ZREM', key.strangers, place)
  write('HDEL', key.chats, string.sub(place, 17))
  write('HDEL', key.counts, string.sub(place, 17))
end

if args.gone then
  if old then unlist(place_of(id, old.l)) end
  write('SREM', key.groups, id)
  write('ZREM', key.spoken, id)
  if old then emit('user:' .. args.userId, 'conversation:removed', {id = id}) end
  return {listed = false}
end

-- Leaves a group in which the user has never written, so that strangers' groups shut nobody out of others: one that the
-- list does not show any more, or else the one that has been quiet for longest. Returns whether there is one, and
-- whether it was in the list.
local function leave_stranger()
  local groups = read('SRANDMEMBER', key.groups, GROUPS_MAX)
  local spoken, unspoken, chosen = read('ZMSCORE', key.spoken, unpack(groups)), {}, nil
  for index, group in ipairs(groups) do
    if not spoken[index] and is_id(group) then unspoken[group] = true end
  end
  if next(unspoken) == nil then return false, false end
  for _, place in ipairs(read('ZRANGE', key.strangers, 0, STRANGERS_MAX)) do
    local group = string.sub(place, 17)
    if unspoken[group] then
      chosen, unspoken[group] = chosen or place, nil
    end
  end
  local hidden = next(unspoken)
  local group = hidden or string.sub(chosen, 17)
  write('SREM', key.groups, group)
  later('remove_member', {conversationId = group, memberId = args.userId})
  if not hidden then unlist(chosen) end
  emit('user:' .. args.userId, 'conversation:removed', {id = group})
  return true, not hidden
end

local is_invited = args.by and args.by ~= args.userId
local has_room, has_left = true, false
if is_invited and read('SISMEMBER', key.blocks, args.by) == 1 then
  has_room = false
elseif is_invited and read('SCARD', key.groups) >= GROUPS_MAX and read('SISMEMBER', key.groups, id) == 0 then
  has_room, has_left = leave_stranger()
end
if not has_room then
  later('remove_member', {conversationId = id, memberId = args.userId})
  return {listed = false}
end
local members = is_group and (args.members or old and old.m) or not is_group and {first, second}
if not members then
  later('list_again', {conversationId = id, userId = args.userId})
  return {listed = false}
end

local chat = {m = array(members), t = args.title or old and old.t or '', u = args.unread}
if args.lastText then
  chat.x, chat.i, chat.s = args.lastText, args.lastId, args.lastSenderId
  chat.l = args.lastMs and args.lastMs > 0 and args.lastMs or old and old.l or now_ms
elseif old then
  chat.x, chat.i, chat.s, chat.l = old.x, old.i, old.s, old.l
else
  chat.x, chat.l = '', now_ms
end
chat.l = math.min(chat.l, YEAR_9999_MS)
chat.w = args.wrote or old and old.w == true or false
local place = place_of(id, chat.l)
if old and old.l ~= chat.l then
  write('ZREM', key.order, place_of(id, old.l))
  write('ZREM', key.strangers, place_of(id, old.l))
end
write('HSET', key.chats, id, encode(chat))
if chat.u > 0 then write('HSET', key.counts, id, decimal(chat.u)) else write('HDEL', key.counts, id) end
write('ZADD', key.order, 0, place)
if chat.w then write('ZREM', key.strangers, place) else write('ZADD', key.strangers, 0, place) end

-- What is too much leaves: strangers first.
if not old then
  local freed = has_left and 1 or 0
  local strange = read('ZCARD', key.strangers) - freed
  if not chat.w and strange >= STRANGERS_MAX then
    unlist(read('ZRANGE', key.strangers, 0, 0)[1])
  elseif read('ZCARD', key.order) - freed >= CHATS_MAX then
    unlist(read('ZRANGE', strange > 0 and key.strangers or key.order, 0, 0)[1])
  end
end

if args.by and is_group then
  write('SADD', key.groups, id)
  -- Whom the user blocks there, and by whom the user is blocked.
  local blocks, blocked_by = array(), array()
  local mine = read('SMISMEMBER', key.blocks, unpack(members))
  local theirs = read('SMISMEMBER', key.blockers, unpack(members))
  for index, user in ipairs(members) do
    if mine[index] == 1 then blocks[#blocks + 1] = user end
    if theirs[index] == 1 then blocked_by[#blocked_by + 1] = user end
  end
  if #blocks + #blocked_by > 0 then
    later('change_walls', {conversationId = id, userId = args.userId, added = blocks, by = blocked_by})
  end
end
if args.wrote and not (old and old.w) then
  if read('ZCARD', key.spoken) >= SPOKEN_MAX then
    write('ZREM', key.spoken, read('ZRANGE', key.spoken, 0, 0)[1])
  end
  local seen_ms = integer(read('GET', key.awake), 0, YEAR_9999_MS)
  if seen_ms then
    later('show_presence', {
      conversationId = id, userId = args.userId, online = read('GET', key.shown) == '1', at = seen_ms,
    })
  end
end
if args.wrote then write('ZADD', key.spoken, decimal(chat.l), id) end
for _, name in ipairs({key.chats, key.order, key.strangers, key.groups, key.spoken, key.counts}) do
  write('EXPIRE', name, TTL_S)
end
local is_muted = chat.s ~= nil and read('SISMEMBER', key.mutes, chat.s) == 1
local is_news = chat.i and chat.u > 0 and not (old and old.l >= chat.l)
if is_news and chat.s ~= args.userId and not is_muted then plan_push('c:' .. id) end
local told = told_chat(id, chat, is_muted)
-- Who is in a group is known from the list. With each message it would fill the logs of all members.
if is_group and not args.members then told.members = nil end
emit('user:' .. args.userId, 'conversation:updated', told)
return {listed = true}
