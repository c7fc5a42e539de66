-- @command  conversations
-- @summary  A user's conversations, those with the newest message first.
-- @http     GET /v1/users/{userId}/conversations
-- @allow    user|service
-- @arg      userId user
-- @arg      before string 1..250 optional -- only those behind this place: `next` of the last page
-- @arg      limit  int 1..50 = 50
-- @include  chats
-- @key      chats  user:{userId}#chats
-- @key      order  user:{userId}#chat_order
-- @key      mutes  user:{userId}#mutes
-- @returns  {conversations: [chat], next: string|null}
-- @cost     O(log n + m) in the user's conversations, at most 1000, and those told
-- @weight   1900
-- @readonly
--
-- Each has also lastMessageId, lastSenderId and lastMessageTimeMs. lastMessage is the beginning of the text. A page
-- also ends before 32 KiB, but for its first conversation. `next` is null at the end.

local PAGE_BYTES_MAX = 32768

local bound = '+'
if args.before then
  if not string.find(args.before, '^%d+[:%w._~-]*$') then fail('bad_request', 'before is the `next` of a page') end
  local ms, id = string.match(args.before, '^(%d+)%.?(.*)$')
  ms = integer(ms, 0, YEAR_9999_MS)
  if not ms then fail('bad_request', 'before is the `next` of a page, or a time in milliseconds') end
  bound = '(' .. place_of(id, ms)
end
local places = read('ZREVRANGEBYLEX', key.order, bound, '-', 'LIMIT', 0, args.limit + 1)
local ids, chats, bytes, last = {}, array(), 0, nil
for index, place in ipairs(places) do ids[index] = string.sub(place, 17) end
local texts = #ids > 0 and read('HMGET', key.chats, unpack(ids)) or {}
for index, id in ipairs(ids) do
  bytes = bytes + #(texts[index] or '') + 250
  if #chats == args.limit or bytes > PAGE_BYTES_MAX and #chats > 0 then break end
  last = index
  local chat = chat_of(texts[index])
  if chat then
    chats[#chats + 1] = told_chat(id, chat, chat.s ~= nil and read('SISMEMBER', key.mutes, chat.s) == 1)
  end
end
local older = null
if last and last < #places then
  local ms = integer(string.match(places[last], '^0*(%d+) '), 0, YEAR_9999_MS)
  older = ms and decimal(ms) .. '.' .. ids[last] or null
end
return {conversations = chats, next = older}
