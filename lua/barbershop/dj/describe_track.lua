-- @command  describe_track
-- @summary  Say what a track is, as Spotify describes it, since phones add tracks by their ids alone.
-- @http     PUT /v1/shops/{shopId}/tracks/{trackId}
-- @allow    service
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @arg      track   json 32768 8 -- {name, artists: [{name}], album: {name, images: [{url}]}, duration_ms}
-- @include  track
-- @include  described
-- @key      catalogue dj:{shopId}#catalogue
-- @key      described dj:{shopId}#described
-- @key      tracks    dj:{shopId}#tracks
-- @topic    dj:{shopId}
-- @emits  track:described described_track
-- @returns  described_track
-- @errors   too_large
-- @cost     O(log n) in the shop's described tracks, O(n) in the bytes of the description
-- @weight   1200

return describe(args.trackId, args.track)
