-- @command  set_shop
-- @summary  Change a shop's settings; what is not given stays.
-- @http     PATCH /v1/shops/{shopId}/settings
-- @allow    service
-- @arg      shopId           id
-- @arg      latitude         number -90..90 optional -- degrees
-- @arg      longitude        number -180..180 optional -- degrees
-- @arg      radiusMetres     number 1..50000 optional -- how near a location must be to check in
-- @arg      codeOnly         bool optional -- users check in with the shop's code alone, whatever their location
-- @arg      voters           bool optional -- DJ sessions name who voted; the shop answers for telling them
-- @arg      utcOffsetMinutes int -720..840 optional
-- @arg      estimator        enum formula,simulated optional -- of waiting times
-- @key      settings         shop:{shopId}#settings
-- @key      presence         shop:{shopId}#presence
-- @key      told             shop:{shopId}#present
-- @topic    shop:{shopId}
-- @emits    presence:update {shopId: string,
--            count: int} -- when presence ends because the code is asked for from now on
-- @returns  {shopId: string, latitude: number|null, longitude: number|null, radiusMetres: number|null,
--           utcOffsetMinutes: int|null, estimator: 'formula'|'simulated'|null, codeOnly: bool,
--           voters: bool} -- null: not set
-- @cost     O(1); presence that ends is freed in the background
-- @weight   250
--
-- A location is what a phone says, and a phone can say anything. With `codeOnly` a shop asks for the code that it
-- shows. To turn it on ends all presence, since nobody knows who has come by a location: who is there checks in anew.
-- The users' own places are put right by their next heartbeats (beat_shop.lua).

local answer = {shopId = args.shopId}
local names = {'latitude', 'longitude', 'radiusMetres', 'utcOffsetMinutes', 'estimator'}
local stored = read('HMGET', key.settings, unpack(names))
for index, name in ipairs(names) do
  local given_now = args[name]
  if given_now ~= nil then
    write('HSET', key.settings, name, type(given_now) == 'number' and encode(given_now) or given_now)
    answer[name] = given_now
  elseif name == 'estimator' then
    answer[name] = (stored[index] == 'formula' or stored[index] == 'simulated') and stored[index] or null
  else
    answer[name] = number(stored[index]) or null
  end
end

answer.voters = read('HGET', key.settings, 'voters') == '1'
if args.voters ~= nil then
  answer.voters = args.voters
  write('HSET', key.settings, 'voters', args.voters and '1' or '0')
end

local was_code_only = read('HGET', key.settings, 'codeOnly') == '1'
answer.codeOnly = was_code_only
if args.codeOnly ~= nil and args.codeOnly ~= was_code_only then
  answer.codeOnly = args.codeOnly
  write('HSET', key.settings, 'codeOnly', args.codeOnly and '1' or '0')
  if args.codeOnly and read('EXISTS', key.presence, key.told) > 0 then
    write('UNLINK', key.presence, key.told)
    emit('shop:' .. args.shopId, 'presence:update', {shopId = args.shopId, count = 0})
  end
end
return answer
