-- @command  add_song
-- @summary  Queue a song in the listening session that a user takes part in; it plays at once when nothing does.
-- @http     POST /api/v1/songs/add
-- @allow    user|service
-- @arg      trackId    string 1..128 as id -- the song's id at its source
-- @arg      isrc       string 0..32 optional
-- @arg      title      string 1..300 as name
-- @arg      artists    json 1000 2 -- a string, or a list of strings
-- @arg      album      string 0..300
-- @arg      durationMs int 0..86400000 as duration_ms
-- @arg      imageUrl   string 0..600 optional as image_url
-- @arg      source     enum spotify,apple_music = spotify
-- @arg      userId     user -- who adds it
-- @resolve  sessionId = user:{userId}#listening session else no_session 400 -- User has no active session
-- @include  session
-- @include  apart
-- @include  songs
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      adders  session:{sessionId}#adders
-- @topic    session:{sessionId}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @emits    now_playing.updated {session_id: string, current_song?: song} -- when it plays at once
-- @returns  song
-- @errors   no_session 400, queue_full 409, too_many 409, too_large
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   2000
-- @rate     30/60 s user
-- @rate     5/1 s user
-- @random
--
-- No two songs of a session were added at one time, so that their order is the same for whoever sorts them.

local ARTISTS_MAX = 20

local session, note = own_session('no_session', 'User has no active session')
local artists = decode(args.artists)
local are_artists = type(artists) == 'string'
if type(artists) == 'table' and string.byte(args.artists) == 91 then
  are_artists = #artists <= ARTISTS_MAX
  local count = 0
  for index, artist in pairs(artists) do
    count = count + 1
    if type(index) ~= 'number' or type(artist) ~= 'string' then are_artists = false end
  end
  artists, are_artists = array(artists), are_artists and count == #artists
end
if not are_artists then
  fail('bad_request', 'This song names no artists, or more than ' .. ARTISTS_MAX)
end
local queued = read('ZCARD', key.order)
if queued >= QUEUE_MAX then fail('queue_full', 'The queue is full: it takes ' .. QUEUE_MAX .. ' songs') end
if session.sequence >= SONGS_MAX - 1 then
  fail('queue_full', 'The session is full: no more than ' .. SONGS_MAX - 1 .. ' songs can be added to one')
end
local own = integer(read('HGET', key.adders, args.userId), 0, QUEUE_MAX) or 0
if own >= QUEUED_USER_MAX then
  fail('too_many', 'A user has at most ' .. QUEUED_USER_MAX .. ' songs in the queue')
end

-- A version 4 UUID of the 128 bits that the gateway drew.
local at = tonumber(string.sub(random, 17, 17), 16) % 4 + 1
local variant = string.sub('89ab', at, at)
local id = string.sub(random, 1, 8) .. '-' .. string.sub(random, 9, 12) .. '-4' .. string.sub(random, 14, 16) .. '-'
  .. variant .. string.sub(random, 18, 20) .. '-' .. string.sub(random, 21, 32)
local _, kind, name = noted(note)
local added = math.max(now_ms, session.added + 1)
local entry = {
  id = id, added_at = iso(added), added_by = person(args.userId, kind, name or ''),
  song = {
    id = args.trackId, isrc = args.isrc or null, name = args.title, artists = artists, album = args.album,
    duration_ms = args.durationMs, image_url = args.imageUrl or null, source = args.source,
  },
}
local text = encode(entry)
if #text > SONG_BYTES_MAX then fail('too_large', 'The title, the artists and the album of this song are too long') end
if session.current and session.bytes + #text > QUEUE_BYTES_MAX then
  fail('queue_full', 'The queue is full. Add this song when some others have been played.')
end

local open = string.sub(text, 1, -2)
local sequence = session.sequence + 1
write('HSET', key.songs, id, text)
ends_with(session, key.songs)
write('HSET', key.session, 'sequence', decimal(sequence), 'added', decimal(added))
local item = {id = id, votes = 0, open = open, song = entry}
if not session.current then
  local playing = told(open, 'playing', 0)
  local hidden = apart_here({args.userId}, are_here)
  write('HSET', key.session, 'current', id, 'votes', '0')
  tell_playing(told(shown(item, hidden), 'playing', 0))
  tell_queue(queue(), hidden)
  return raw(playing)
end
local place = -sequence
write('ZADD', key.order, place, id)
ends_with(session, key.order)
write('HSET', key.adders, args.userId, decimal(own + 1))
ends_with(session, key.adders)
write('HSET', key.session, 'bytes', decimal(session.bytes + #text))
local list = queue()
local rank = #list + 1
while rank > 1 and list[rank - 1].place < place do rank = rank - 1 end
item.place = place
table.insert(list, rank, item)
tell_queue(list, apart_here(adders_of(list), are_here))
return raw(told(open, 'queued', 0))
