-- @command  notify
-- @summary  Put a notification into a user's inbox and tell the user's devices.
-- @http     POST /v1/users/{userId}/notifications
-- @allow    service|worker
-- @arg      userId id
-- @arg      type   string 1..64
-- @arg      title  string 1..200
-- @arg      body   string 0..2000
-- @arg      data   json 8192 8 optional -- an object; {} when absent
-- @include  json
-- @include  pushes
-- @include  inbox
-- @key      inbox   user:{userId}#inbox
-- @key      unread  user:{userId}#unread
-- @key      devices user:{userId}#devices
-- @key      pushes  user:{userId}#pushes
-- @topic    user:{userId}
-- @emits    notification {id, type, title, body, data, timestamp}
-- @returns  {id}
-- @errors   conflict
-- @cost     O(1)
-- @weight   750

local data = stored(args.data or '{}')
if not data then fail('bad_request', 'data must be a JSON object') end
return {id = put_notification(args.type, args.title, args.body, data)}
