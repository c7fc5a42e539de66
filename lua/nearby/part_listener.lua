-- @part    listener
-- @summary What a listener has set and said, in keys of the listener's own: settings, track, and the rounded place.
-- @type    visible 'everyone'|'followers'|'nobody'
-- @type    track {id: string, name: string, artist: string, albumName?: string, albumImageUrl?: string, duration: int,
--            isPlaying: bool}
-- @type    listener {id: string, displayName: string, spotifyId?: string, currentTrack?: track,
--            location: {latitude: number, longitude: number, city?: string}, lastUpdated: string}
--
-- user:U#listener  a hash that stays: visible, rounding (`exact`, 100 or 1000), displayName, spotifyId.
-- user:U#track     the JSON text of the track last told; gone TRACK_MS after it.
-- user:U#place     a hash: cell, latitude, longitude, city, at. The place is rounded before it comes here, and no other
--                  key holds a more exact one. Gone SIGN_MS after the last sign of life.

local SIGN_MS = 600000
local TRACK_MS = 600000
local FIRST_ROUNDING = 100 -- metres: of a listener who has chosen nothing
local HIDDEN_ROUNDING = 1000 -- metres: who is visible to nobody still sees others, from about here
local NAME_BYTES = 100 -- of a name: a page of them must not take long

-- As much of a text as others are told.
local function clipped(text)
  if #text <= NAME_BYTES then return text end
  local last = NAME_BYTES
  while string.byte(text, last + 1) >= 128 and string.byte(text, last + 1) < 192 do last = last - 1 end
  return string.sub(text, 1, last)
end

-- The settings: {visible, rounding, displayName, spotifyId}, those of a newcomer for what is not set.
local function settings_of(name)
  local got = read('HMGET', name, 'visible', 'rounding', 'displayName', 'spotifyId')
  local visible = got[1]
  if visible ~= 'followers' and visible ~= 'nobody' then visible = 'everyone' end
  -- The exact place is shown by choice alone. An earlier version wrote `0` also for who had not chosen.
  local rounding = got[2] == 'exact' and 0 or got[2] == '1000' and 1000 or FIRST_ROUNDING
  return {visible = visible, rounding = rounding, displayName = got[3] and clipped(got[3]) or nil,
    spotifyId = got[4] or nil}
end

-- How many metres a place is rounded to before it is kept.
local function rounding_of(settings)
  if settings.visible == 'nobody' then return HIDDEN_ROUNDING end
  return settings.rounding
end

local function place_text(degrees)
  return string.format('%.7f', degrees)
end

-- The place as kept, nil when there is none, it is over, or somebody wrote what is none.
local function place_of(name)
  local got = read('HMGET', name, 'cell', 'latitude', 'longitude', 'city', 'at')
  local latitude, longitude = number(got[2]), number(got[3])
  local at = integer(got[5], 0, INTEGER_MAX)
  if not (got[1] and latitude and longitude and math.abs(latitude) <= 85 and math.abs(longitude) <= 180
    and at and at + SIGN_MS > now_ms) then
    return nil
  end
  return {latitude = latitude, longitude = longitude, city = got[4] or nil, at = at}
end

local function keep_place(name, place)
  local left = place.at + SIGN_MS - now_ms
  write('DEL', name)
  local cell = place.cell or cell_of(place.latitude, place.longitude)
  write('HSET', name, 'cell', cell, 'latitude', place_text(place.latitude), 'longitude', place_text(place.longitude),
    'at', decimal(place.at))
  if place.city then write('HSET', name, 'city', place.city) end
  write('PEXPIRE', name, decimal(math.min(math.max(left, 1), SIGN_MS)))
end

-- The track as JSON text, nil for none.
local function track_of(name)
  local TRACK_BYTES_MAX = 4096 -- of a track's text
  local text = read('GET', name)
  return text and #text <= TRACK_BYTES_MAX and decode(text) and stored_object(text) or nil
end

-- What others are told of a listener, as JSON text. A rounded one's last sign is told to the minute: the time of each
-- step would tell how fast somebody goes.
local function user_text(user, settings, place, track)
  local at = place.at
  if settings.rounding > 0 then at = at - at % MINUTE_MS end
  return encode({
    id = user, displayName = settings.displayName or user, spotifyId = settings.spotifyId, currentTrack = track,
    location = {latitude = raw(place_text(place.latitude)), longitude = raw(place_text(place.longitude)),
      city = place.city},
    lastUpdated = iso(at),
  })
end
