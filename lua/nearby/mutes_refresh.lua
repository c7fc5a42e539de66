-- @summary  Show a listener no more whom it has muted, and show it again whom it mutes no more.
-- @refresh  user:{userId}#mutes
-- @arg      userId id
-- @include  geo
-- @include  listener
-- @include  again
-- @key      mutes  user:{userId}#mutes
-- @key      place  user:{userId}#place
-- @calls    sync_listener
-- @returns  {idle: bool}
-- @cost     O(1)
-- @weight   200

settle_again()
return {idle = true}
