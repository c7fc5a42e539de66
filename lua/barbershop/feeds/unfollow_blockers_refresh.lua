-- @summary  End a user's following of barbers who block the user.
-- @refresh  user:{userId}#blockers
-- @arg      userId   id
-- @coalesce 100 ms
-- @include  unfollowing
-- @key      blockers user:{userId}#blockers
-- @key      follows  user:{userId}#follows
-- @topic    user:{userId}
-- @emits    follows:changed {topic: string, following: bool} -- gateways then read the set again
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in barbers followed, at most 1000
-- @weight   2000

if unfollow_members(key.blockers) then return {idle = false, again_ms = now_ms} end
return {idle = true}
