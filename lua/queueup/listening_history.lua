-- @command  listening_history
-- @summary  The songs that were played or skipped in a listening session, newest first, for those who take part.
-- @http     GET /api/v1/sessions/{id}/history
-- @allow    user|service
-- @arg      sessionId id fold lower as id
-- @arg      before    int 1..1000000 optional -- the `next` of the page before
-- @arg      limit     int 1..50 = 50
-- @arg      userId    user -- who asks
-- @include  session
-- @include  apart
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      apart   session:{sessionId}#apart
-- @key      history session:{sessionId}#history
-- @returns  {session_id: string, songs: [song], next: int|null} -- next is null behind the last page
-- @errors   not_found
-- @cost     O(n) in the songs told, at most 50
-- @weight   1500
-- @rate     60/60 s user
-- @rate     5/1 s user
-- @readonly
--
-- Whom the caller blocks, and who blocks the caller, is not named as having added a song. A page ends at `limit` songs
-- and before PAGE_BYTES_MAX. The last HISTORY_MAX songs are kept. A stranger is not told whether there is such a
-- session.

local PAGE_BYTES_MAX = 32768
local NOBODY = '00000000-0000-0000-0000-000000000000'

local session = own_session('not_found', 'Session not found')
local number = math.min(args.before or INTEGER_MAX, session.finished + 1) - 1
local last = math.max(session.finished - HISTORY_MAX, number - args.limit, 0)
local names, found, adders, seen, bytes = {}, {}, {}, {}, 0
for name = number, last + 1, -1 do names[#names + 1] = decimal(name) end
local texts = #names > 0 and read('HMGET', key.history, unpack(names)) or {}
for _, text in ipairs(texts) do
  local song = text and #text <= SONG_BYTES_MAX + 64 and decode(text)
  bytes = bytes + (song and #text or 0)
  if bytes > PAGE_BYTES_MAX and #found > 0 then break end
  if type(song) == 'table' and type(song.id) == 'string' then
    local adder = type(song.added_by) == 'table' and song.added_by.id
    found[#found + 1] = {text = text, song = song, adder = adder}
    if type(adder) == 'string' and not seen[adder] and is_id(adder) then adders[#adders + 1] = adder end
    seen[adder or ''] = true
  end
  number = number - 1
end
local hidden, songs = hidden_from(args.userId, adders), {}
for index, one in ipairs(found) do
  if one.adder and hidden[one.adder] then
    one.song.added_by = {id = NOBODY}
    local track = one.song.song
    if type(track) == 'table' and type(track.artists) == 'table' then array(track.artists) end
    one.text = encode(one.song)
  end
  songs[index] = raw(one.text)
end
return {
  session_id = args.sessionId, songs = array(songs),
  next = number > math.max(session.finished - HISTORY_MAX, 0) and number + 1 or null,
}
