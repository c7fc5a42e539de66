-- @part     chats
-- @summary  A user's list of conversations. The scripts of the user's home share it.
-- @type     chat {id: string, members: [string], title: string, lastMessage: string|null, lastMessageId: string|null,
--            lastSenderId: string|null, lastMessageTime: string, lastMessageTimeMs: int, unread: int, muted?: bool}
-- @type     chat_change {id: string, members?: [string], title: string, lastMessage: string|null,
--            lastMessageId: string|null, lastSenderId: string|null, lastMessageTime: string, lastMessageTimeMs: int,
--            unread: int, muted: bool}
--
-- Keys of the user U, which end a year after the last change:
--   user:U#chats      hash conversationId -> JSON {m: members or nil, t: title, x: text, i: message id, s: sender,
--                     l: ms, u: unread, w: whether U has written there, v, n and r: the versions of the conversation
--                     that say u, the newest message and m (0 is left out), b: whom the group knows U to block there}
--   user:U#chat_order zset `MS CONVERSATION`, all of score 0, MS of 15 digits: the order of the list
--   user:U#strangers  the same, of those in which U has not written
--   user:U#groups     set of U's groups
--   user:U#spoken     zset conversationId -> ms, of those in which U has written
--   user:U#opened     the same, of those which U has read and not written in
--   user:U#traces     zset conversationId -> ms, of groups that U has left and that still know of U: U's messages are
--                     there, or the group's maker took U out
--   user:U#forgotten  zset userId or words -> offset in the log of user:U (forgotten_refresh.lua)
--   user:U#chat_unread hash conversationId -> how many messages U has not read, of those with any
--   user:U#left       zset conversationId -> the version at which it left the list (part_version.lua); an hour
--   user:U#walls_due  set of the groups that are still to hear whom U blocks (walls_refresh.lua)

local CHATS_MAX = 1000
local TTL_S = 31622400

-- A version as stored; 0 for what is none.
local function version_of(value)
  return type(value) == 'number' and value >= 0 and value <= INTEGER_MAX and math.floor(value) or 0
end

-- A member of the list as stored; nil for what is none.
local function chat_of(text)
  local chat = decode(text)
  if type(chat) ~= 'table' then return nil end
  local ms, unread = chat.l, chat.u
  if type(ms) ~= 'number' or ms ~= math.floor(ms) or ms < 0 or ms > YEAR_9999_MS then return nil end
  if type(unread) ~= 'number' or unread ~= math.floor(unread) or unread < 0 or unread > 500 then return nil end
  if type(chat.x) ~= 'string' or type(chat.t) ~= 'string' then return nil end
  if type(chat.m) ~= 'table' or #chat.m > MEMBERS_MAX then return nil end
  for _, user in ipairs(chat.m) do
    if not is_id(user) then return nil end
  end
  if not is_id(chat.s) then chat.s = nil end
  if type(chat.i) ~= 'string' then chat.i = nil end
  return chat
end

-- Where a chat stands in the order.
local function place_of(id, ms)
  return string.format('%015d ', ms) .. id
end

-- The same with its versions, and with whom the group knows the user to block.
local function whole_chat(text)
  local chat = chat_of(text)
  if not chat then return nil end
  chat.v, chat.n, chat.r = version_of(chat.v), version_of(chat.n), version_of(chat.r)
  if type(chat.b) ~= 'table' or #chat.b > MEMBERS_MAX then chat.b = {} end
  for _, user in ipairs(chat.b) do
    if not is_id(user) then return nil end
  end
  return chat
end

-- A list of ids as JSON text.
local function ids_text(ids)
  return #ids > 0 and '["' .. table.concat(ids, '","') .. '"]' or '[]'
end

-- Stores a chat.
local function store_chat(id, chat)
  write('HSET', key.chats, id, '{"m":' .. ids_text(chat.m) .. ',"t":' .. encode(chat.t) .. ',"x":' .. encode(chat.x)
    .. (chat.i and ',"i":' .. encode(chat.i) or '') .. (chat.s and ',"s":"' .. chat.s .. '"' or '')
    .. ',"l":' .. decimal(chat.l) .. ',"u":' .. decimal(chat.u) .. (chat.w and ',"w":true' or '')
    .. ',"v":' .. decimal(chat.v) .. (chat.n > 0 and ',"n":' .. decimal(chat.n) or '')
    .. (chat.r > 0 and ',"r":' .. decimal(chat.r) or '') .. (#chat.b > 0 and ',"b":' .. ids_text(chat.b) or '') .. '}')
end

-- Which members of a list of users are in the set of blocks.
local function blocked_of(users)
  local blocked = {}
  if #users == 0 or read('EXISTS', key.blocks) == 0 then return blocked end
  for index, is_blocked in ipairs(read('SMISMEMBER', key.blocks, unpack(users))) do
    if is_blocked == 1 then blocked[#blocked + 1] = users[index] end
  end
  return blocked
end

-- A chat as clients read it.
local function told_chat(id, chat, is_muted)
  return {
    id = id, members = #chat.m > 0 and raw(cjson.encode(chat.m)) or array(), title = chat.t,
    lastMessage = chat.i and chat.x or null,
    lastMessageId = chat.i or null, lastSenderId = chat.s or null, lastMessageTime = iso(chat.l),
    lastMessageTimeMs = chat.l, unread = chat.u, muted = is_muted,
  }
end
