-- @command  track_found
-- @summary  Take what Spotify says of a track that somebody added by its id alone.
-- @allow    worker
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @arg      outcome enum ok,failed
-- @arg      answer  json 32768 8 optional -- as describe_track takes it
-- @include  track
-- @include  described
-- @key      catalogue dj:{shopId}#catalogue
-- @key      described dj:{shopId}#described
-- @key      tracks    dj:{shopId}#tracks
-- @topic    dj:{shopId}
-- @emits  track:described {trackId, trackName, artistName, albumArt, albumName, id, name, artists, album, duration_ms}
-- @returns  {}
-- @errors   too_large
-- @cost     O(log n) in the shop's described tracks, O(n) in the bytes of the description
-- @weight   1200
--
-- What Spotify does not know stays as the adder said it.

if args.outcome == 'ok' and args.answer then describe(args.trackId, args.answer) end
return {}
