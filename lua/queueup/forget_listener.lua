-- @command  forget_listener
-- @summary  Erase what one listening session holds of a user.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @arg      step      enum ballots,songs,chat,history = ballots
-- @arg      below     int 0..1000000 optional -- of the songs that are over, those with a number below this are left
-- @include  session
-- @include  apart
-- @include  songs
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      apart   session:{sessionId}#apart
-- @key      apart_at session:{sessionId}#apart_at
-- @key      guests  session:{sessionId}#guests
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      ballots session:{sessionId}#ballots#{userId}
-- @key      adders  session:{sessionId}#adders
-- @key      history session:{sessionId}#history
-- @key      chat    session:{sessionId}#chat
-- @key      log     session:{sessionId}#log
-- @topic    session:{sessionId}
-- @calls    forget_listener
-- @emits    votes.updated {session_id: string, queued_song_id: string, total_votes: int}
-- @returns  {next: 'ballots'|'songs'|'chat'|'history'|null} -- the step that follows, or null
-- @cost     O(n) in what the step looks at: 25 ballots, 81 songs, 100 messages, or 25 songs that are over
-- @weight   2000
--
-- The songs stay, without a name. The user's votes on what waits or plays are taken back, so that totals stay those of
-- the ballots. The host stays the host under an id that names nobody.

local PAGE = 25 -- ballots, or songs that are over

-- The text of a song of the user, by nobody now; nil for others' songs.
local function without_name(text)
  if not text or not string.find(text, args.userId, 1, true) then return nil end
  local song = #text <= SONG_BYTES_MAX + 64 and decode(text)
  if type(song) ~= 'table' or type(song.added_by) ~= 'table' or song.added_by.id ~= args.userId then return nil end
  song.added_by = {id = NOBODY}
  if type(song.song) == 'table' and type(song.song.artists) == 'table' then array(song.song.artists) end
  return encode(song)
end

-- Takes a page of the user's votes back.
local function forget_ballots(session)
  local ballots, taken = read('HGETALL', key.ballots), {}
  for index = 1, math.min(#ballots, 2 * PAGE), 2 do
    taken[#taken + 1] = ballots[index]
    local song, value = ballots[index], ballots[index + 1] == '1' and 1 or -1
    local place = number(read('ZSCORE', key.order, song) or '')
    local total = song == session.current and session.votes or place and math.ceil(place / SONGS_MAX)
    if total then
      total = total - value + 0
      if place then
        write('ZADD', key.order, place - value * SONGS_MAX, song)
      else
        write('HSET', key.session, 'votes', total)
      end
      emit('session:' .. args.sessionId, 'votes.updated', {
        session_id = args.sessionId, queued_song_id = song, total_votes = total,
      })
    end
  end
  if #taken > 0 then write('HDEL', key.ballots, unpack(taken)) end
  return #ballots > 2 * PAGE and 'ballots' or 'songs'
end

-- Takes the name from what waits and plays, and from the session where it is the host's.
local function forget_songs(session)
  local flat = read('HGETALL', key.songs)
  for index = 1, #flat, 2 do
    local text = without_name(flat[index + 1])
    if text then write('HSET', key.songs, flat[index], text) end
  end
  write('HDEL', key.adders, args.userId)
  keep_blocks(args.userId, {})
  write('ZREM', key.apart_at, args.userId)
  write('ZREM', key.guests, args.userId)
  if session.host == args.userId then write('HSET', key.session, 'host', NOBODY, 'host_note', '0 - ') end
  return 'chat'
end

-- Keeps the messages of others alone.
local function forget_chat(session)
  local texts = read('LRANGE', key.chat, 0, -1)
  local kept = {}
  for _, text in ipairs(texts) do
    local message = string.find(text, args.userId, 1, true) and decode(text)
    local user = type(message) == 'table' and message.user
    if type(user) ~= 'table' or user.id ~= args.userId then kept[#kept + 1] = text end
  end
  if #kept < #texts then
    write('DEL', key.chat)
    if #kept > 0 then
      write('RPUSH', key.chat, unpack(kept))
      ends_with(session, key.chat)
    end
  end
  return 'history'
end

-- Takes the name from a page of the songs that are over.
local function forget_history(session)
  local oldest = math.max(session.finished - HISTORY_MAX + 1, 1)
  local first = math.min(args.below or session.finished + 1, session.finished + 1)
  local last = math.max(first - PAGE, oldest)
  for number = first - 1, last, -1 do
    local text = without_name(read('HGET', key.history, decimal(number)))
    if text then write('HSET', key.history, decimal(number), text) end
  end
  return last > oldest and 'history' or nil, last
end

local session = open_session()
if not session then return {next = null} end
local steps = {ballots = forget_ballots, songs = forget_songs, chat = forget_chat, history = forget_history}
local following, below = steps[args.step](session)
if not following then
  -- Its events have what the user has said, and the user's name.
  write('UNLINK', key.log)
else
  later('forget_listener', {sessionId = args.sessionId, userId = args.userId, step = following, below = below})
end
return {next = following or null}
