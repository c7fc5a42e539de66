-- @command  set_preferences
-- @summary  Say what a user wants to be pushed, and when not. What is not given is as if it had never been set.
-- @http     PUT /v1/users/{userId}/push
-- @allow    user|service
-- @arg      userId      user
-- @arg      types       json 8192 2 optional -- {TYPE: on, off, or urgent: also in the quiet hours}, at most 50
-- @arg      quietFrom   string 5..5 optional -- such as 22:00, with quietTo
-- @arg      quietTo     string 5..5 optional -- such as 07:00; the quiet hours may go over midnight
-- @arg      quietMode   enum hold,silent = hold -- until they end, or at once without sound
-- @arg      timezone    string 1..64 optional -- of the quiet hours; else that of the device registered last
-- @include  device
-- @include  rules
-- @key      rules       user:{userId}#push_rules
-- @key      devices     user:{userId}#devices
-- @topic    user:{userId}
-- @emits    preferences:changed rules
-- @returns  rules
-- @cost     O(n) in the types, at most 50
-- @weight   600
-- @rate     30/3600 s user
-- @idempotent

-- The minutes of a time of day such as 22:00.
local function minutes(name, text)
  local hour, minute = string.match(text, '^(%d%d):(%d%d)$')
  hour, minute = tonumber(hour), tonumber(minute)
  if not hour or hour > 23 or minute > 59 then fail('bad_request', name .. ' must be a time such as 22:00') end
  return hour * 60 + minute
end

local types, count = {}, 0
if args.types then
  local given_types = decode(args.types)
  if type(given_types) ~= 'table' or string.sub(args.types, 1, 1) ~= '{' then
    fail('bad_request', 'types must be an object')
  end
  for name, word in pairs(given_types) do
    count = count + 1
    if count > TYPES_MAX then fail('bad_request', 'types may have ' .. TYPES_MAX .. ' members') end
    if #name == 0 or #name > 256 then fail('bad_request', 'a type has 1 to 64 characters') end
    if type(word) ~= 'string' or not WORDS[word] then fail('bad_request', 'a type is on, off or urgent') end
    types[name] = word
  end
end
if (args.quietFrom == nil) ~= (args.quietTo == nil) then
  fail('bad_request', 'quietFrom and quietTo are given together')
end
if args.timezone and not is_zone(args.timezone) then fail('bad_request', 'timezone is no name of a time zone') end
local from = args.quietFrom and minutes('quietFrom', args.quietFrom)
local upto = args.quietTo and minutes('quietTo', args.quietTo)
if from and from == upto then fail('bad_request', 'the quiet hours would have no end') end

local told = {
  types = types, quietFrom = args.quietFrom or null, quietTo = args.quietTo or null, quietMode = args.quietMode,
  timezone = args.timezone or null,
}
write('SET', key.rules, encode({
  types = types, from = from, to = upto, mode = args.quietMode, z = args.timezone,
}), 'EX', DEVICES_TTL_S)
if read('EXISTS', key.devices) == 1 then write('EXPIRE', key.devices, DEVICES_TTL_S) end
emit('user:' .. args.userId, 'preferences:changed', told)
return told
