-- @command  export_chats
-- @summary  A user's conversations, for the user's copy of all data.
-- @allow    worker
-- @exports
-- @arg      userId  user
-- @include  chats
-- @key      chats   user:{userId}#chats
-- @key      order   user:{userId}#chat_order
-- @key      awake   user:{userId}#awake
-- @returns  {conversations: [chat], lastSeen: string|null, more: bool}
-- @cost     O(n) in the conversations told, at most 100
-- @weight   2000
-- @readonly
--
-- The newest 100; the command `conversations` has the others, and `messages` what was said in each. The messages lie at
-- the homes of their conversations, which a script of the user's home cannot read.

local TOLD_MAX = 100
local PAGE_BYTES_MAX = 24576

local ids, chats, bytes = {}, array(), 0
local places = read('ZREVRANGEBYLEX', key.order, '+', '-', 'LIMIT', 0, TOLD_MAX + 1)
for index, place in ipairs(places) do ids[index] = string.sub(place, 17) end
local more = #ids > TOLD_MAX
for index, text in ipairs(#ids > 0 and read('HMGET', key.chats, unpack(ids)) or {}) do
  local chat = chat_of(text)
  bytes = bytes + #(text or '')
  if index > TOLD_MAX or bytes > PAGE_BYTES_MAX and #chats > 0 then
    more = true
    break
  end
  if chat then chats[#chats + 1] = told_chat(ids[index], chat, nil) end
end
local seen = integer(read('GET', key.awake), 0, YEAR_9999_MS)
return {conversations = chats, lastSeen = seen and iso(seen) or null, more = more}
