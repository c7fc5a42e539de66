-- @summary  The same for who was blocked, in case it moved before it was known.
-- @refresh  user:{userId}#blockers
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @include  again
-- @key      blockers user:{userId}#blockers
-- @key      place    user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle: bool}
-- @cost     O(1)
-- @weight   200

settle_again()
return {idle = true}
