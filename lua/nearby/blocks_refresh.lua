-- @summary  Part a listener at once from whom it has blocked, and let it meet again whom it blocks no more.
-- @refresh  user:{userId}#blocks
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @include  again
-- @key      blocks user:{userId}#blocks
-- @key      place  user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle: bool}
-- @cost     O(1)
-- @weight   200

settle_again()
return {idle = true}
