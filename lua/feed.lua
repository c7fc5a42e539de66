-- @command  feed
-- @summary  The newest posts of all barbers a user follows, for who was away.
-- @http     GET /v1/users/{userId}/feed
-- @allow    user|service
-- @arg      userId  user
-- @arg      limit   int 1..100 = 20
-- @key      follows user:{userId}#follows
-- @returns  {posts: [post], more} -- newest first
-- @cost     O(n log n) in barbers followed, at most 1000; one read for each, and one for each post told
-- @weight   2000
-- @readonly
--
-- Reads the logs of other topics (one Redis server only), of which it learns from the set, and merges them from their
-- newest ends. Only posts that are told are looked at as JSON. A page also ends at 768 KiB. What is no log, no post or
-- no topic is left out.

local FOLLOWS_MAX = 1000 -- as in follow.lua
local READS_MAX = 2000   -- events of other names lie between the posts
local PAGE_BYTES_MAX = 786432

local reads = 0

-- The newest post of a log before an entry: {at, topic, entry, text}; nil when there is none.
local function older(topic, entry)
  while reads < READS_MAX do
    reads = reads + 1
    local ok, found = pcall(read, 'XREVRANGE', topic_log(topic), entry and '(' .. entry or '+', '-', 'COUNT', 1)
    if not ok or #found == 0 then return nil end
    local fields = found[1][2]
    entry = found[1][1]
    if #fields == 8 and fields[1] == 'e' and fields[2] == 'feed:new_post' and fields[3] == 'd' and fields[7] == 't' then
      local at = integer(fields[8], 0, INTEGER_MAX)
      if at and #fields[4] <= PAGE_BYTES_MAX then
        return {at = at, topic = topic, entry = entry, text = fields[4]}
      end
    end
  end
end

-- The post's text to splice, looked at once; false when it is no JSON object.
local function post(head)
  if head.post == nil then head.post = stored_object(head.text) or false end
  return head.post
end

-- Newer first; at the same time by topic, so that the order is always the same.
local function newer(one, other)
  if one.at ~= other.at then return one.at > other.at end
  return one.topic < other.topic
end

local newest = {}
for _, topic in ipairs(read('SRANDMEMBER', key.follows, FOLLOWS_MAX)) do
  if #topic <= 205 and string.find(topic, '^feed:[A-Za-z0-9._~:-]+$') then newest[#newest + 1] = older(topic) end
end
table.sort(newest, newer)

-- Behind one post more than are told, which says whether there is more, no log has anything to tell.
local heads, count = {}, 0
for index, head in ipairs(newest) do
  if count > args.limit then break end
  heads[index] = head
  if post(head) then count = count + 1 end
end

local posts, bytes = array(), 0
while #heads > 0 do
  local head = heads[1]
  if post(head) then
    bytes = bytes + #head.text
    if #posts == args.limit or bytes > PAGE_BYTES_MAX then break end
    posts[#posts + 1] = post(head)
  end
  table.remove(heads, 1)
  local following = older(head.topic, head.entry)
  if following then
    local place = 1
    while heads[place] and newer(heads[place], following) do place = place + 1 end
    table.insert(heads, place, following)
  end
end
return {posts = posts, more = #heads > 0}
