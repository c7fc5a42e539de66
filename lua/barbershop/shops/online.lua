-- @command  online
-- @summary  Whether a user has a live connection, and when it was last seen.
-- @http     GET /v1/online
-- @allow    user|service
-- @arg      userId user
-- @key      online user:{userId}#online
-- @returns  {online: bool, lastSeen: string|null} -- lastSeen is null when the user is not online
-- @cost     O(1)
-- @weight   75
-- @readonly

local seen = integer(read('GET', key.online), 0, YEAR_9999_MS)
return {online = seen ~= nil, lastSeen = seen and iso(seen) or null}
