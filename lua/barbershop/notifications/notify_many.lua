-- @command  notify_many
-- @summary  Put one notification into the inboxes of many users.
-- @http     POST /v1/notifications 202
-- @allow    service
-- @arg      campaignId id -- what the notification belongs to; calls of one campaign are told how many it has
-- @arg      users      ids 1..100
-- @arg      type       string 1..64
-- @arg      title      string 1..200
-- @arg      body       string 0..2000
-- @arg      data       json 4096 8 optional -- an object; {} when absent
-- @arg      titleKey   string 1..100 optional -- as of `notify`
-- @arg      bodyKey    string 1..100 optional
-- @arg      textArgs   json 1000 2 optional
-- @key      sent       campaign:{campaignId}#sent
-- @calls    notify
-- @returns  {campaignId: string, queued: int, total: int} -- users of this call, and of all calls of the campaign
-- @errors   too_large
-- @cost     O(n) in the users, at most 100
-- @weight   900
--
-- The worker passes them on (notify.lua). A call that is repeated under its operation's name tells nobody twice.

local CAMPAIGN_S = 7776000 -- 90 days
local BYTES_MAX = 900000 -- of all calls together

local data = args.data and decode(args.data)
if args.data and (type(data) ~= 'table' or string.byte(args.data) ~= 123) then
  fail('bad_request', 'data must be a JSON object')
end
local users, seen = {}, {}
for _, user in ipairs(args.users) do
  if not is_id(user) then fail('bad_request', 'A user has an id of at most 128 characters') end
  if not seen[user] then users[#users + 1], seen[user] = user, true end
end
local rest = ',"type":' .. encode(args.type) .. ',"title":' .. encode(args.title) .. ',"body":' .. encode(args.body)
  .. (args.data and ',"data":' .. args.data or '') .. (args.titleKey and ',"titleKey":' .. encode(args.titleKey) or '')
  .. (args.bodyKey and ',"bodyKey":' .. encode(args.bodyKey) or '')
  .. (args.textArgs and ',"textArgs":' .. args.textArgs or '') .. '}'
if #users * (#rest + 160) > BYTES_MAX then fail('too_large', 'The texts are too long for so many users; send fewer') end
for _, user in ipairs(users) do later('notify', '{"userId":"' .. user .. '"' .. rest) end
local total = (integer(read('GET', key.sent), 0, INTEGER_MAX) or 0) + #users
write('SET', key.sent, decimal(total), 'EX', CAMPAIGN_S)
return {campaignId = args.campaignId, queued = #users, total = total}
