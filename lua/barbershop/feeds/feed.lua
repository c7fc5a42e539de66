-- @command  feed
-- @summary  The newest posts of all barbers a user follows, for who was away.
-- @http     GET /v1/users/{userId}/feed
-- @allow    user|service
-- @arg      userId  user
-- @arg      limit   int 1..100 = 20
-- @include  json
-- @key      follows user:{userId}#follows
-- @returns  {posts: [object], updates: [{type: 'new_post', postId: string|null, barberId: string, timestamp: string}],
--           more: bool} -- newest first
-- @cost     O(n) in barbers followed, at most 1000, and one read for each of at most 100 posts and barbers looked at
-- @weight   2000
-- @readonly
--
-- Reads the logs of other topics, of which it learns from the set, and merges them from their newest ends. On a Cluster
-- the gateway reads them for it: all barbers' times in one round, then their logs side by side, deeper in each round.
-- The times of the barbers' newest posts (publish_post.lua) tell whose logs have the page's posts, so that the others
-- need not be read. Of barbers without such a time, whose posts were published otherwise, SILENT_MAX are looked at, by
-- chance. A page ends at PAGE_MAX posts, and before PAGE_BYTES_MAX but for its first one, so that no answer has more
-- values than a client's JSON may have. What is no log, no post or no topic is left out. Each post has an update, by
-- whose time a client counts what it has not seen; a post that was published otherwise may have no id.

local TOPIC_BYTES_MAX = 205
local PAGE_MAX = 20
local PAGE_BYTES_MAX = 16384
local SILENT_MAX = 40
local READS_MAX = 100 -- of AT_ONCE events; those of other names lie between the posts
local AT_ONCE = 3     -- a post, its update, and the post before it: whose turn is next is known without another read
local DEEPER = 2      -- each further read of a log is so many times as long, so that few are needed
local READ_MAX = 24

local reads = 0

-- The posts of a log before an entry, the newest first, each with the one before it when both were read; `count` events
-- are read together: {at, topic, entry, text, following}; nil when there is none.
local function older(topic, entry, count)
  if #topic > TOPIC_BYTES_MAX or not string.find(topic, '^feed:[%w._~:-]+$') then return nil end
  while reads < READS_MAX do
    reads = reads + count / AT_ONCE
    local ok, found = pcall(read, 'XREVRANGE', topic_log(topic), entry and '(' .. entry or '+', '-', 'COUNT', count)
    count = math.min(count * DEEPER, READ_MAX)
    if not ok or #found == 0 then return nil end
    local first, last
    for _, one in ipairs(found) do
      local fields = one[2]
      entry = one[1]
      local is_post = #fields == 8 and fields[1] == 'e' and fields[2] == 'feed:new_post' and fields[3] == 'd'
      local at = is_post and fields[7] == 't' and integer(fields[8], 0, INTEGER_MAX)
      if at then
        local post = {at = at, topic = topic, entry = entry, text = fields[4], following = false}
        if last then last.following = post end
        first, last = first or post, post
      end
    end
    if first then
      last.entry, last.count = entry, count
      return first
    end
  end
end

-- The post's text to splice, looked at once; false when it is no JSON object.
local function post(head)
  if head.post == nil then
    local text, value = stored(head.text)
    head.post, head.id = text or false, text and value.id
  end
  return head.post
end

-- Newer first; at the same time by topic, so that the order is always the same.
local function newer(one, other)
  if one.at ~= other.at then return one.at > other.at end
  return one.topic < other.topic
end

-- Puts an item into a list that is in order.
local function insert(list, item)
  local place = #list + 1
  while place > 1 and newer(item, list[place - 1]) do place = place - 1 end
  table.insert(list, place, item)
end

-- What the page is made of, in order: the `count` topics that have the newest posts, by their time and not read yet;
-- and the newest posts of a few topics that tell no time.
local function candidates(count)
  local topics, keys = read('SRANDMEMBER', key.follows, FOLLOWS_MAX), {}
  for index, topic in ipairs(topics) do keys[index] = topic_latest(topic) end
  local found = #keys > 0 and read('MGET', unpack(keys)) or {}
  local least, times, names, silent, most = -1, {}, {}, {}, 4 * count
  -- Forgets all but the `count` newest, and those as old as the last of them.
  local function prune()
    local sorted, kept, kept_names = {unpack(times)}, {}, {}
    table.sort(sorted)
    least = sorted[#sorted - count + 1] or -1
    for place, ms in ipairs(times) do
      if ms >= least then kept[#kept + 1], kept_names[#kept_names + 1] = ms, names[place] end
    end
    times, names, most = kept, kept_names, math.max(most, 2 * #kept)
  end
  for index = 1, #keys do
    local text = found[index]
    local ms = text and tonumber(text)
    if not ms then
      if #silent < SILENT_MAX then silent[#silent + 1] = topics[index] end
    elseif ms >= least then
      times[#times + 1], names[#names + 1] = ms, topics[index]
      if #times >= most then prune() end
    end
  end
  prune()
  local heads, ties = {}, {}
  for place, ms in ipairs(times) do
    if ms > least then insert(heads, {at = ms, topic = names[place]}) else ties[#ties + 1] = names[place] end
  end
  table.sort(ties)
  for index = 1, math.min(#ties, count) do insert(heads, {at = least, topic = ties[index]}) end
  for _, topic in ipairs(silent) do
    local head = older(topic, nil, AT_ONCE)
    if head then insert(heads, head) end
  end
  return heads
end

local limit = math.min(args.limit, PAGE_MAX)
local heads, told, bytes = candidates(limit + 1), {}, 0
while #heads > 0 do
  local head = heads[1]
  if head.text and post(head) then
    bytes = bytes + #head.text
    if #told == limit or bytes > PAGE_BYTES_MAX and #told > 0 then break end
    told[#told + 1] = head
  end
  table.remove(heads, 1)
  local following = head.following or older(head.topic, head.entry, head.count or AT_ONCE)
  if following then insert(heads, following) end
end
-- A barber may have newer posts than the time tells, if they were published otherwise.
local page, texts, updates = {}, {}, array()
for _, head in ipairs(told) do insert(page, head) end
for index, head in ipairs(page) do
  texts[index] = head.text
  updates[index] = {
    type = 'new_post', postId = type(head.id) == 'string' and head.id or null, barberId = string.sub(head.topic, 6),
    timestamp = iso(math.min(head.at, YEAR_9999_MS)),
  }
end
return {posts = raw('[' .. table.concat(texts, ',') .. ']'), updates = updates, more = #heads > 0}
