-- @command  list_conversation
-- @summary  Keep a user's list of conversations as the conversation says it is, and tell the user's devices.
-- @allow    worker
-- @arg      userId         id
-- @arg      conversationId id
-- @arg      unread         int 0..500
-- @arg      wrote          bool optional -- the user has written there
-- @arg      opened         bool optional -- the user has read there for the first time
-- @arg      lastText       string 0..400 optional -- without it the newest message is as before
-- @arg      lastId         id optional -- without it there is none
-- @arg      lastSenderId   id optional
-- @arg      lastMs         time optional -- 0 leaves the conversation where it stands
-- @arg      members        ids 1..50 optional -- of a group, when they have changed
-- @arg      title          string 0..400 optional
-- @arg      by             id optional -- who has taken the user into the group
-- @arg      gone           bool optional -- the user is in it no more
-- @arg      traced         bool optional -- with gone: the group still knows of the user
-- @arg      without        id optional -- who has been erased
-- @arg      version        int 0..9007199254740991 optional -- of the conversation, when it said so
-- @include  pair
-- @include  version
-- @include  chats
-- @include  pushes
-- @key      chats     user:{userId}#chats
-- @key      order     user:{userId}#chat_order
-- @key      strangers user:{userId}#strangers
-- @key      groups    user:{userId}#groups
-- @key      spoken    user:{userId}#spoken
-- @key      opened    user:{userId}#opened
-- @key      blocks    user:{userId}#blocks
-- @key      mutes     user:{userId}#mutes
-- @key      shown     user:{userId}#shown
-- @key      awake     user:{userId}#awake
-- @key      counts    user:{userId}#chat_unread
-- @key      devices   user:{userId}#devices
-- @key      pushes    user:{userId}#pushes
-- @key      left      user:{userId}#left
-- @key      traces    user:{userId}#traces
-- @key      forgotten user:{userId}#forgotten
-- @key      version   user:{userId}#version
-- @topic    user:{userId}
-- @calls    list_again, remove_member, change_walls, show_presence, erase_member
-- @emits    conversation:updated chat_change -- members if new
-- @emits    conversation:removed {id: string}
-- @returns  {listed: bool}
-- @cost     O(log n) in the user's conversations, at most 1000, and O(m) in the members
-- @weight   1500
-- @idempotent
--
-- The list is bounded. Strangers can write to a user as they like, so those conversations in which the user has never
-- written are bounded for themselves: the oldest of them leave the list first. What has left it comes back with its
-- next message. Who is taken into a group by a user whom he blocks leaves it again. Groups are bounded in the same way:
-- for a new one a user leaves another in which he has never written. Only who has written in all of them stays out.
--
-- Calls about one conversation come in any order. Each has the version at which the conversation said it. The unread
-- count, the newest message and the members each keep the newest version that said them, and older words count no
-- more. A conversation that has left the list keeps its version in `left`, so that no late word brings it back. A word
-- from before the user's erasure (`*` in `left`) has the conversation forget the user, too. When a user leaves a
-- conversation, the user's own topic forgets what it has told of it. A call after which the list shows what it showed
-- before sends no event.

local STRANGERS_MAX = 200
local SPOKEN_MAX = 10000

local id = args.conversationId
local old = whole_chat(read('HGET', key.chats, id))
local first, second = users_of(id)
local is_group = not first
local left, erased = 0, 0
if not old or args.by then
  local notes = read('ZMSCORE', key.left, id, '*')
  left, erased = old and 0 or number(notes[1]) or 0, number(notes[2]) or 0
end
-- The newest version that has said anything.
local last = old and math.max(old.v, old.n, old.r) or left
local version = args.version or version_after(math.max(last, erased))

-- Takes a conversation out of the list.
local function unlist(place)
  local name = string.sub(place, 17)
  local chat = whole_chat(read('HGET', key.chats, name))
  write('ZREM', key.order, place)
  write('ZREM', key.strangers, place)
  write('HDEL', key.chats, name)
  write('HDEL', key.counts, name)
  if chat then note_version(key.left, name, math.max(chat.v, chat.n, chat.r)) end
end

if args.gone then
  if args.traced then
    if version <= (number(read('ZSCORE', key.left, '*')) or 0) then
      later('erase_member', {conversationId = id, userId = args.userId})
    else
      write('ZADD', key.traces, decimal(now_ms), id)
      write('ZREMRANGEBYRANK', key.traces, 0, -1 - SPOKEN_MAX)
      write('EXPIRE', key.traces, TTL_S)
    end
  end
  if version <= last then return {listed = old ~= nil} end
  if old then unlist(place_of(id, old.l)) end
  note_version(key.left, id, version)
  write('SREM', key.groups, id)
  write('ZREM', key.spoken, id)
  write('ZREM', key.opened, id)
  if read('ZSCORE', key.left, '*') then
    write('EXPIRE', key.version, LATE_S)
  else
    -- Withdrawals there from now on are not told here.
    write('ZADD', key.forgotten, 0, 'id":"' .. id)
    write('EXPIRE', key.forgotten, FORGOTTEN_S)
  end
  if old then emit('user:' .. args.userId, 'conversation:removed', {id = id}) end
  return {listed = false}
end
if not old and version <= left then return {listed = false} end
if version <= erased then
  later('erase_member', {conversationId = id, userId = args.userId})
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

if args.without then
  write('ZADD', key.forgotten, 0, args.without)
  write('EXPIRE', key.forgotten, FORGOTTEN_S)
end

-- The parts of this call that no newer call has said.
local is_count = not old or version > old.v
local is_newest = args.lastText and (not old or version > old.n)
local is_roll = args.members and (not old or version > old.r)
local is_join = args.by and is_group
if not (is_count or is_newest or is_roll or is_join or args.opened) then return {listed = true} end

local chat = old or {m = members, t = '', x = '', l = 0, u = 0, v = 0, n = 0, r = 0, b = {}}
local old_ms, old_wrote = old and old.l, old and old.w == true
local old_unread, old_id, old_text = old and old.u, old and old.i, old and old.x
if is_count then
  chat.u, chat.v = args.unread, version
  chat.w = args.wrote or old_wrote
end
if is_newest then
  chat.x, chat.i, chat.s, chat.n = args.lastText, args.lastId, args.lastSenderId, version
end
if is_roll then chat.m, chat.t, chat.r = args.members, args.title or chat.t, version end
chat.l = is_newest and args.lastMs and args.lastMs > 0 and args.lastMs or old_ms or now_ms
chat.l = math.min(chat.l, YEAR_9999_MS)
if is_group and (is_roll or is_join) then
  -- Of this list the group hears whom the user blocks there. A list that is new does not know what the group has heard.
  local blocked = blocked_of(chat.m)
  if table.concat(blocked, ' ') ~= table.concat(chat.b, ' ') or not old and not is_join then
    chat.b = blocked
    later('change_walls', {
      conversationId = id, userId = args.userId, blocks = array(blocked), version = next_version(key.version),
      of = chat.r,
    })
  end
end
local place = place_of(id, chat.l)
if old and old_ms ~= chat.l then
  write('ZREM', key.order, place_of(id, old_ms))
  write('ZREM', key.strangers, place_of(id, old_ms))
end
store_chat(id, chat)
if not old and left > 0 then write('ZREM', key.left, id) end
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

if is_join then write('SADD', key.groups, id) end
if not old then write('ZREM', key.forgotten, 'id":"' .. id) end
local is_first = chat.w and not old_wrote
if is_first then
  if read('ZCARD', key.spoken) >= SPOKEN_MAX then
    write('ZREM', key.spoken, read('ZRANGE', key.spoken, 0, 0)[1])
  end
  write('ZREM', key.opened, id)
elseif args.opened and not chat.w then
  write('ZADD', key.opened, decimal(math.floor(version / 1000)), id)
  write('ZREMRANGEBYRANK', key.opened, 0, -1 - SPOKEN_MAX)
  write('EXPIRE', key.opened, TTL_S)
end
if is_first or args.opened and not chat.w then
  local seen_ms = integer(read('GET', key.awake), 0, YEAR_9999_MS)
  if seen_ms then
    later('show_presence', {
      conversationId = id, userId = args.userId, online = read('GET', key.shown) == '1', at = seen_ms,
      version = next_version(key.version),
    })
  end
end
if chat.w then write('ZADD', key.spoken, decimal(chat.l), id) end
for _, name in ipairs({key.chats, key.order, key.strangers, key.groups, key.spoken, key.counts, key.traces}) do
  write('EXPIRE', name, TTL_S)
end
local is_same = chat.l == old_ms and chat.u == old_unread and chat.i == old_id and chat.x == old_text
if is_same and not is_roll then return {listed = true} end
local is_muted = chat.s ~= nil and read('SISMEMBER', key.mutes, chat.s) == 1
local is_news = is_newest and chat.i and chat.u > 0 and not (old_ms and old_ms >= chat.l)
if is_news and chat.s ~= args.userId and not is_muted then plan_push('c:' .. id) end
local told = told_chat(id, chat, is_muted)
-- Who is in a group is known from the list. With each message it would fill the logs of all members.
if is_group and not is_roll then told.members = nil end
emit('user:' .. args.userId, 'conversation:updated', told)
return {listed = true}
