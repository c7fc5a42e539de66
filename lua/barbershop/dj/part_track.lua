-- @part     track
-- @summary  What a track is, as the apps' queue has it and as Spotify describes it.
-- @type     artist {name: string}
-- @type     album {name: string, images: [{url: string}]}
-- @type     added_track {trackId: string, trackName: string, artistName: string, albumArt: string, albumName?: string,
--            addedBy: string, addedAt: string, id: string, name: string, artists: [artist], album: album,
--            duration_ms: int, upvotes: int, downvotes: int, score: int, position: int}
-- @type     playing_track {trackId: string, trackName?: string, artistName?: string, albumArt?: string,
--            albumName?: string, addedBy?: string, addedAt?: string, id: string, name: string, artists: [artist],
--            album: album, duration_ms: int, upvotes: int, downvotes: int, score: int}
-- @type     described_track {trackId: string, trackName: string, artistName: string, albumArt: string,
--            albumName: string, id: string, name: string, artists: [artist], album: album, duration_ms: int}
--
-- A queued track is stored with `trackName`, `artistName` and `albumArt`, and with `albumName`, `duration_ms` and, when
-- there are several, `artists`, where somebody has described it (describe_track.lua).

local TRACK_BYTES_MAX = 1536 -- of what is stored; keeps the whole queue below 1 MiB
local ARTISTS_MAX = 5
local DURATION_MS_MAX = 86400000

-- Text of at most so many bytes; nil for anything else.
local function text_of(value, bytes_max)
  return type(value) == 'string' and #value <= bytes_max and value or nil
end

-- What is kept of a track that Spotify describes; nil when it is no such track.
local function kept(track)
  if type(track) ~= 'table' then return nil end
  local artists, album = {}, type(track.album) == 'table' and track.album or {}
  for index, artist in ipairs(type(track.artists) == 'table' and track.artists or {}) do
    if index > ARTISTS_MAX then break end
    artists[index] = {name = type(artist) == 'table' and text_of(artist.name, 300) or ''}
  end
  local image = type(album.images) == 'table' and album.images[1]
  local duration = tonumber(track.duration_ms)
  if not text_of(track.name, 600) then return nil end
  return {
    trackName = track.name, artistName = artists[1] and artists[1].name or '',
    artists = #artists > 1 and array(artists) or nil, albumName = text_of(album.name, 600) or '',
    albumArt = type(image) == 'table' and text_of(image.url, 1000) or '',
    duration_ms = duration and duration >= 0 and duration <= DURATION_MS_MAX and math.floor(duration) or 0,
  }
end

-- Adds to an item what a player of Spotify's tracks reads; what is not known is empty.
local function as_spotify(item)
  item.id, item.name = item.trackId, text_of(item.trackName, 1000) or ''
  local artist, image = text_of(item.artistName, 1000) or '', text_of(item.albumArt, 1000) or ''
  if type(item.artists) == 'table' and item.artists[1] then
    item.artists = array(item.artists) -- what was decoded does not know that it is one
  else
    item.artists = array(artist ~= '' and {{name = artist}} or {})
  end
  item.album = {
    name = text_of(item.albumName, 1000) or '', images = array(image ~= '' and {{url = image}} or {}),
  }
  item.duration_ms = type(item.duration_ms) == 'number' and item.duration_ms or 0
  return item
end
