-- @part     dj_page
-- @summary  A page of a DJ session's queue, as the command `dj` and the state of the `dj` topic tell it.
-- @type     queued_track {trackId: string, trackName?: string, artistName?: string, albumArt?: string,
--            albumName?: string, artists?: [artist], duration_ms?: int, addedBy?: string, addedAt?: string,
--            upvotes: int|[string], downvotes: int|[string], upvoteCount?: int, downvoteCount?: int, score: int,
--            position: int, *: any} -- a shop may add members
-- @type     dj_state {shopId: string, isActive: bool, currentTrack: playing_track|null, queue: [queued_track],
--            startedAt: string|null, next: int|null}
--
-- A state runs without the command prelude, so whoever includes this says how Redis is read and JSON is parsed:
-- `get(command, key, ...)` gives a reply, and `parse(text)` a value, nil for what is no JSON.
--
-- A page ends at PAGE_MAX tracks and before PAGE_BYTES_MAX. What is not what add_track.lua and vote.lua write is left
-- out, and its place in the order is not given to another.

local PAGE_MAX = 100
local PAGE_BYTES_MAX = 49152
local CHUNK = 25
local ITEM_BYTES_MAX = 2048
local NAMED_BYTES_MAX = 4097   -- as part_voters.lua writes at most

-- The members of a track's text without its closing brace, and the track; nil when it is not the JSON of a track.
local function members(text, parse, bytes_max)
  if type(text) ~= 'string' or #text > bytes_max then return nil end
  if string.byte(text) ~= 123 or string.byte(text, -1) ~= 125 then return nil end
  local track = parse(text)
  return track and type(track.trackId) == 'string' and string.sub(text, 1, -2), track
end

-- Users as a JSON array; none for what is no such list.
local function users(list)
  if list == '' or string.find(list, '[^%w._~: -]') then return '[]' end
  return '["' .. string.gsub(string.sub(list, 1, -2), ' ', '","') .. '"]'
end

-- What an item tells of its votes; `voters` is nil in a session that does not name them, '' for a track without any.
local function votes(up, down, voters)
  if not voters then return ',"upvotes":' .. up .. ',"downvotes":' .. down end
  local named_up, named_down
  if #voters <= NAMED_BYTES_MAX then named_up, named_down = string.match(voters, '^([^|]*)|([^|]*)$') end
  return ',"upvotes":' .. users(named_up or '') .. ',"downvotes":' .. users(named_down or '') .. ',"upvoteCount":' .. up
    .. ',"downvoteCount":' .. down
end

-- One item of the queue; nil when what is stored is not what add_track.lua and vote.lua write.
local function item(id, text, tally, voters, position, parse)
  local up, down = string.match(tally or '', ' (%d+) (%d+)$')
  up, down = tonumber(up) or VOTES_MAX, tonumber(down) or VOTES_MAX
  local open, track = members(text, parse, ITEM_BYTES_MAX)
  if not open or track.trackId ~= id or up >= VOTES_MAX or down >= VOTES_MAX then return nil end
  if track.upvotes or track.downvotes or track.score or track.position then return nil end
  return open .. votes(up, down, voters) .. ',"score":' .. up - down .. ',"position":' .. position .. '}'
end

-- The items of the page that begins behind `from` tracks of `queued`, and how many tracks were looked at.
local function page(keys, from, queued, get, parse)
  local items, bytes, place, last = {}, 0, from, math.min(from + PAGE_MAX, queued)
  local names_voters = last > place and get('HMGET', keys.voters, '')[1]
  while place < last do
    local tracks = get('ZREVRANGE', keys.order, place, math.min(place + CHUNK, last) - 1)
    if #tracks == 0 then break end
    local texts, tallies = get('HMGET', keys.tracks, unpack(tracks)), get('HMGET', keys.tally, unpack(tracks))
    local voters = names_voters and get('HMGET', keys.voters, unpack(tracks))
    for index, id in ipairs(tracks) do
      local named = voters and (voters[index] or '')
      local one = item(id, texts[index], tallies[index], named, place + 1, parse)
      bytes = bytes + (one and #one + 2 * #(named or '') or 0) -- names cost more than other bytes
      if bytes > PAGE_BYTES_MAX and #items > 0 then return items, place end
      items[#items + 1] = one
      place = place + 1
    end
  end
  return items, place
end
