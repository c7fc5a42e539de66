-- @command  set_shop
-- @summary  Change a shop's settings; what is not given stays.
-- @http     PATCH /v1/shops/{shopId}/settings
-- @allow    service
-- @arg      shopId           id
-- @arg      latitude         number -90..90 optional -- degrees
-- @arg      longitude        number -180..180 optional -- degrees
-- @arg      radiusMetres     number 1..50000 optional -- how near a location must be to check in
-- @arg      utcOffsetMinutes int -720..840 optional
-- @arg      estimator        enum formula,simulated optional -- of waiting times
-- @key      settings         shop:{shopId}#settings
-- @returns  {shopId, latitude, longitude, radiusMetres, utcOffsetMinutes, estimator} -- null where nothing is set
-- @cost     O(1)
-- @weight   175

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
return answer
