-- @command  export_nearby
-- @summary  All that a listener has said and that is still kept.
-- @allow    worker
-- @exports
-- @arg      userId    user
-- @include  geo
-- @include  listener
-- @key      place     user:{userId}#place
-- @key      settings  user:{userId}#listener
-- @key      track     user:{userId}#track
-- @key      followers user:{userId}#followers
-- @key      sees      user:{userId}#sees
-- @returns  {visible: visible, rounding: int, displayName?: string, spotifyId?: string, location?: {latitude: number,
--           longitude: number, city?: string, lastUpdated: string}, currentTrack?: track, followers: [string],
--           follows: [string]}
-- @cost     O(n) in followers and followed, at most 400
-- @weight   2000
-- @readonly

local settings = settings_of(key.settings)
local place = place_of(key.place)
return {
  visible = settings.visible, rounding = settings.rounding, displayName = settings.displayName,
  spotifyId = settings.spotifyId, currentTrack = track_of(key.track),
  location = place and {latitude = place.latitude, longitude = place.longitude, city = place.city,
    lastUpdated = iso(place.at)} or nil,
  followers = array(read('SRANDMEMBER', key.followers, 200)), follows = array(read('SRANDMEMBER', key.sees, 200)),
}
