-- @part     chats
-- @summary  A user's list of conversations. The scripts of the user's home share it.
--
-- Keys of the user U, which end a year after the last change:
--   user:U#chats      hash conversationId -> JSON {m: members or nil, t: title, x: text, i: message id, s: sender,
--                     l: ms, u: unread, w: whether U has written there}
--   user:U#chat_order zset `MS CONVERSATION`, all of score 0, MS of 15 digits: the order of the list
--   user:U#strangers  the same, of those in which U has not written
--   user:U#groups     set of U's groups
--   user:U#spoken     zset conversationId -> ms, of those in which U has written
--   user:U#chat_unread hash conversationId -> how many messages U has not read, of those with any

local CHATS_MAX = 1000
local TTL_S = 31622400
local YEAR_9999_MS = 253370764800000
local MEMBERS_MAX = 50

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

-- A chat as clients read it.
local function told_chat(id, chat, is_muted)
  return {
    id = id, members = #chat.m > 0 and raw(cjson.encode(chat.m)) or array(), title = chat.t,
    lastMessage = chat.i and chat.x or null,
    lastMessageId = chat.i or null, lastSenderId = chat.s or null, lastMessageTime = iso(chat.l),
    lastMessageTimeMs = chat.l, unread = chat.u, muted = is_muted,
  }
end
