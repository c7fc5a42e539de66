-- @summary  End a user's following of barbers whom the user blocks.
-- @refresh  user:{userId}#blocks
-- @arg      userId   id
-- @coalesce 100 ms
-- @include  unfollowing
-- @key      blocks   user:{userId}#blocks
-- @key      follows  user:{userId}#follows
-- @topic    user:{userId}
-- @emits    follows:changed {topic: string, following: bool} -- gateways then read the set again
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in barbers followed, at most 1000
-- @weight   2000

if unfollow_members(key.blocks) then return {idle = false, again_ms = now_ms} end
return {idle = true}
