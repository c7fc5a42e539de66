-- @summary  The same for who was muted, in case it moved before it was known.
-- @refresh  user:{userId}#muters
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @include  again
-- @key      muters   user:{userId}#muters
-- @key      place    user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle: bool}
-- @cost     O(1)
-- @weight   200

settle_again()
return {idle = true}
