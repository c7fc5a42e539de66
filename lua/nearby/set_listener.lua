-- @command  set_listener
-- @summary  Say what a listener is called; told with its next location.
-- @http     PUT /v1/listener
-- @allow    user|service
-- @arg      userId      user
-- @arg      displayName string 1..60
-- @arg      spotifyId   string 1..64 optional
-- @key      settings    user:{userId}#listener
-- @returns  {id: string, displayName: string, spotifyId?: string}
-- @cost     O(1)
-- @weight   250
-- @rate     6/60 s user
-- @idempotent

write('HSET', key.settings, 'displayName', args.displayName)
if args.spotifyId then
  write('HSET', key.settings, 'spotifyId', args.spotifyId)
else
  write('HDEL', key.settings, 'spotifyId')
end
return {id = args.userId, displayName = args.displayName, spotifyId = args.spotifyId}
