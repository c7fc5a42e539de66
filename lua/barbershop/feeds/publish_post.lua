-- @command  publish_post
-- @summary  Publish a barber's post to everyone who follows the barber, by one event however many they are.
-- @http     POST /v1/barbers/{barberId}/posts
-- @allow    service
-- @arg      barberId id
-- @arg      post     json 32768 16 -- an object with a string `id` and at most 5000 values; `barberId` may be left out
-- @include  json
-- @key      latest   feed:{barberId}#latest
-- @topic    feed:{barberId}
-- @emits    feed_updates {type: 'new_post', postId: string, barberId: string,
--            timestamp: string} -- what a banner counts; the post follows
-- @emits    feed:new_post post -- the post as it came, with barberId
-- @type     post {id: string, barberId: string, *: any}
-- @returns  {barberId: string, postId: string}
-- @cost     O(1) in followers, O(n) in the bytes of the post
-- @weight   2700
--
-- Followers' sessions have joined the topic (follow.lua); who was away reads it by feed.lua, which finds out by
-- `latest`, the time of the newest post, whose logs to look at.

local POST_ID_MAX = 200
local VALUES_MAX = 5000 -- half of what a client's JSON may have: a feed begins with one post at least
local LATEST_TTL_S = 2592000

local text = args.post
local post = stored(text) and decode(text)
if not post then fail('bad_request', 'post must be a JSON object') end
if type(post.id) ~= 'string' or post.id == '' or #post.id > POST_ID_MAX then
  fail('bad_request', 'post.id must be a string of 1 to 200 bytes')
end
-- Each value but the first follows a comma or a bracket; those within strings are counted as well.
if select(2, string.gsub(text, '[,:%[{]', '')) > 2 * VALUES_MAX then
  fail('bad_request', 'post has more than ' .. VALUES_MAX .. ' values')
end
if post.barberId == nil then
  text = '{"barberId":' .. encode(args.barberId) .. ',' .. string.sub(text, 2)
elseif post.barberId ~= args.barberId then
  fail('bad_request', 'post.barberId must be the barberId of the request')
end
write('SET', key.latest, decimal(now_ms), 'EX', LATEST_TTL_S)
emit('feed:' .. args.barberId, 'feed_updates', {
  type = 'new_post', postId = post.id, barberId = args.barberId, timestamp = iso(now_ms),
})
emit('feed:' .. args.barberId, 'feed:new_post', text)
return {barberId = args.barberId, postId = post.id}
