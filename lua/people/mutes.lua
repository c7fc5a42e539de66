-- @command  mutes
-- @summary  Whom a user mutes.
-- @http     GET /v1/users/{userId}/mutes
-- @allow    user|service
-- @arg      userId  user
-- @key      mutes  user:{userId}#mutes
-- @returns  {mutes: [string]} -- in no order
-- @cost     O(n) in the mutes, at most 240
-- @weight   1200
-- @readonly

local users = {}
for _, user in ipairs(read('SRANDMEMBER', key.mutes, MUTES_MAX)) do
  if is_id(user) then users[#users + 1] = user end
end
return {mutes = #users > 0 and raw(cjson.encode(users)) or array()}
