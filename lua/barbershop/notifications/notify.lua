-- @command  notify
-- @summary  Put a notification into a user's inbox and tell the user's devices.
-- @http     POST /v1/users/{userId}/notifications
-- @allow    service|worker
-- @arg      userId id
-- @arg      type   string 1..64
-- @arg      title  string 1..200
-- @arg      body   string 0..2000
-- @arg      data   json 8192 8 optional -- an object; {} when absent
-- @arg      titleKey string 1..100 optional -- name of a text of the app, which a push shows in place of the title
-- @arg      bodyKey  string 1..100 optional -- the same in place of the body
-- @arg      textArgs json 1000 2 optional -- an array of at most 10 strings for the places in those texts
-- @include  json
-- @include  pushes
-- @include  inbox
-- @key      inbox   user:{userId}#inbox
-- @key      unread  user:{userId}#unread
-- @key      devices user:{userId}#devices
-- @key      pushes  user:{userId}#pushes
-- @topic    user:{userId}
-- @emits    notification notification
-- @returns  {id: string}
-- @errors   conflict
-- @cost     O(1)
-- @weight   750

local data = stored(args.data or '{}')
if not data then fail('bad_request', 'data must be a JSON object') end
local words = args.textArgs and decode(args.textArgs)
if args.textArgs and (type(words) ~= 'table' or string.byte(args.textArgs) ~= 91 or #words > 10) then
  fail('bad_request', 'textArgs must be an array of at most 10 strings')
end
for _, word in ipairs(words or {}) do
  if type(word) ~= 'string' then fail('bad_request', 'textArgs must be an array of at most 10 strings') end
end
return {
  id = put_notification(args.type, args.title, args.body, data, {
    titleKey = args.titleKey, bodyKey = args.bodyKey, textArgs = args.textArgs,
  }),
}
