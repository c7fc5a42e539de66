-- @command  forget_visitor
-- @summary  Forget a user at a shop: presence, the votes of its DJ session, and the name on tracks.
-- @allow    worker
-- @arg      shopId    id
-- @arg      userId    id
-- @arg      cursor    id = 0 -- of the scan that goes through the tracks
-- @include  voters
-- @include  apart
-- @key      presence  shop:{shopId}#presence
-- @key      told      shop:{shopId}#present
-- @key      apart     shop:{shopId}#apart
-- @key      session   dj:{shopId}#session
-- @key      tracks    dj:{shopId}#tracks
-- @key      tally     dj:{shopId}#tally
-- @key      order     dj:{shopId}#order
-- @key      removed   dj:{shopId}#removed
-- @key      ballots   dj:{shopId}#ballots#{userId}
-- @key      voters    dj:{shopId}#voters
-- @topic    shop:{shopId}
-- @topic    dj:{shopId}
-- @calls    forget_visitor
-- @emits    presence:update {shopId: string, count: int}
-- @emits    queue:update standing -- for each vote that is taken back
-- @returns  {done: bool}
-- @cost     O(n) in the ballots or tracks of one run, at most 20 and some 60
-- @weight   2000
-- @idempotent
--
-- Each vote that counts is taken back, also on a track that was taken out. Otherwise whoever erases own data could vote
-- again. `adders` (part_dj.lua) keeps how many tracks the user has added until the session ends, for the same reason.
-- The tracks themselves stay, without the name. A run takes BALLOTS_MAX ballots, or a part of the tracks, and calls
-- itself for the rest.

local BALLOTS_MAX = 20
local SCAN_COUNT = 50

-- A track's text without the user's name; nil where the user did not add it.
local function without_name(text)
  if not text or #text > CURRENT_BYTES_MAX or not string.find(text, args.userId, 1, true) then return nil end
  local pattern = '("addedBy"%s*:%s*)"' .. string.gsub(args.userId, '%W', '%%%0') .. '"'
  local changed, count = string.gsub(text, pattern, '%1""')
  return count > 0 and changed or nil
end

local function end_presence()
  local expiry = number(read('ZSCORE', key.presence, args.userId))
  if not expiry then return end
  local count = read('ZCOUNT', key.presence, '(' .. decimal(now_ms), '+inf')
  if expiry > now_ms then count = count - 1 end
  write('ZREM', key.presence, args.userId)
  if count ~= (integer(read('GET', key.told), 0, INTEGER_MAX) or 0) then
    if count > 0 then write('SET', key.told, decimal(count)) else write('DEL', key.told) end
    emit('shop:' .. args.shopId, 'presence:update', {shopId = args.shopId, count = count})
  end
end

local moved = {} -- the places that this run has changed, old and new in turn

-- Where a track stands once it has a place, counted after the moves of this run.
local function position(place)
  local ahead = read('ZCOUNT', key.order, '(' .. decimal(place), '+inf')
  for index = 1, #moved, 2 do
    if moved[index] > place then ahead = ahead - 1 end
    if moved[index + 1] > place then ahead = ahead + 1 end
  end
  return ahead + 1
end

-- Takes one vote back; `tally` is that of the track where the ballot is for it, and `name` the hash that has it.
local function take_back(track, ballot, tally, name, tag)
  local tally_tag, sequence, up, down = string.match(tally or '', '^(%x+) (%d+) (%d+) (%d+)$')
  local number_of, word = string.match(ballot, '^(%d+)([ud])$')
  local ordinal = integer(sequence, 1, TRACKS_MAX - 1)
  up, down = integer(up, 0, VOTES_MAX), integer(down, 0, VOTES_MAX)
  if tally_tag ~= tag or sequence ~= number_of or not (ordinal and up and down) then return end
  local old = (up - down) * TRACKS_MAX - ordinal
  if word == 'u' then up = math.max(up - 1, 0) else down = math.max(down - 1, 0) end
  local place = (up - down) * TRACKS_MAX - ordinal
  write('HSET', name, track, tag .. ' ' .. sequence .. ' ' .. decimal(up) .. ' ' .. decimal(down))
  note_vote(track, args.userId, 'none')
  if name ~= key.tally then return end
  write('ZADD', key.order, decimal(place), track)
  moved[#moved + 1], moved[#moved + 2] = old, place
  emit('dj:' .. args.shopId, 'queue:update', {
    trackId = track, upvotes = up, downvotes = down, score = up - down, position = position(place),
  })
end

-- Takes a batch of votes back; returns whether others are left.
local function forget_ballots()
  local count = read('HLEN', key.ballots)
  if count == 0 then return false end
  local tag = read('HGET', key.ballots, '')
  local picked, tracks, ballots = read('HRANDFIELD', key.ballots, BALLOTS_MAX + 1, 'WITHVALUES'), {}, {}
  for index = 1, #picked, 2 do
    if picked[index] ~= '' and #tracks < BALLOTS_MAX then
      tracks[#tracks + 1], ballots[#ballots + 1] = picked[index], picked[index + 1]
    end
  end
  local tallies = #tracks > 0 and read('HMGET', key.tally, unpack(tracks)) or {}
  local removed = #tracks > 0 and read('HMGET', key.removed, unpack(tracks)) or {}
  for index, track in ipairs(tracks) do
    local is_queued = tallies[index]
    take_back(track, ballots[index], is_queued or removed[index], is_queued and key.tally or key.removed, tag)
  end
  if count - #tracks <= 1 then
    write('UNLINK', key.ballots)
    return false
  end
  write('HDEL', key.ballots, unpack(tracks))
  return true
end

end_presence()
keep_blocks(args.userId, {})
local current = without_name(read('HGET', key.session, 'current'))
if current then write('HSET', key.session, 'current', current) end
if forget_ballots() then
  later('forget_visitor', {shopId = args.shopId, userId = args.userId, cursor = args.cursor})
  return {done = false}
end
local cursor = integer(args.cursor, 0, INTEGER_MAX) or 0
local scanned = read('HSCAN', key.tracks, decimal(cursor), 'COUNT', SCAN_COUNT)
for index = 1, #scanned[2], 2 do
  local text = without_name(scanned[2][index + 1])
  if text then write('HSET', key.tracks, scanned[2][index], text) end
end
if scanned[1] == '0' then return {done = true} end
later('forget_visitor', {shopId = args.shopId, userId = args.userId, cursor = scanned[1]})
return {done = false}
