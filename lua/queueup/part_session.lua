-- @part     session
-- @summary  What a listening session is in Redis, and who takes part in it.
-- @type     person {id: string, username?: string,
--            is_anonymous?: bool} -- the id alone of somebody who must not be shown
-- @type     standing {session_id: string, host: person, is_locked: bool, is_paused: bool, participant_count: int,
--            skip_request_count: int, last_skip_was_crowdsourced: bool}
--
-- Data of a session; all of it ends by itself, at the latest SESSION_MS after the session was made, and EMPTY_MS after
-- the last user left it:
--   session   hash created, ends (ms), code, host, guestless (below), locked, paused, crowd: flags '1' or '0',
--             sequence: how many songs were added, bytes: what waits in the queue, added: time of the last song, ms,
--             current, votes: the song that plays and its votes, finished: how many songs are over,
--             guests: how many have come without an account, address_guests: how many of them by one ticket from one
--             address, where the host has said so; code_version: how often the code was given another end by
--             keep_code.lua
--   people    hash user -> `TAG KIND NAME`: who takes part. A tag is of one stay, so that what ends a former stay ends
--             no later one. KIND is `guest` or `-`, and NAME may be empty
--   members   set of users: who may hear the session's topic, as the gateway reads it
--   guests    zset user -> ms: guests, and until when their votes count without another sign of them
--   skips     set of users who ask to skip the song that plays; all of them take part
--   songs     hash id -> JSON {id, added_at, song, added_by} of what waits or plays
--   order     zset id -> VOTES * SONGS_MAX - NUMBER: votes descending, then earlier added; of what waits only
--   ballots   hash of one user: song -> '1' or '-1'
--   adders    hash user -> how many of the user's songs wait
--   apart     who blocks whom (part_apart.lua), of all who have come, as long as the session lasts
--   host      when the host gave the last sign, ms (beat_host.lua)
--   history   hash NUMBER -> JSON of a song that is over, the last HISTORY_MAX
-- And of a user: `listening`, a hash session, tag, code, guest, host ('1' for who leads it): the one session that the
-- user is in; `sessions`, a zset of the sessions that hold something of the user, by their ends; `past`, a zset
-- `ID CODE` of those that the user took part in, by the time.

local PEOPLE_MAX = 500
local QUEUE_MAX = 80
local QUEUE_BYTES_MAX = 40960
local QUEUED_USER_MAX = 25
local SONG_BYTES_MAX = 2048
local SONGS_MAX = 16384
local HISTORY_MAX = 200

-- A user as clients are told of one.
local function person(id, kind, name)
  return {id = id, username = name ~= '' and name or nil, is_anonymous = kind == 'guest'}
end

-- What `people` notes of the caller; without a token it is a guest.
local function stay(tag)
  return tag .. ((caller.guest or caller.role == 'anonymous') and ' guest ' or ' - ') .. (caller.name or '')
end

-- Lets a key end with the session.
local function ends_with(session, name)
  write('PEXPIREAT', name, session.ends)
end

-- Notes that a guest is there; `note` is what `people` notes of the user.
local function see_guest(session, note)
  if not string.find(note, '^%x+ guest ') then return end
  write('ZADD', key.guests, decimal(now_ms + GUEST_MS), args.userId)
  ends_with(session, key.guests)
end

-- The parts of what `people` notes; nil for what is no such text.
local function noted(text)
  return string.match(text or '', '^(%x+) (%S+) ?(.*)$')
end

-- The session; nil when there is none or it is over.
local function open_session()
  local got = read('HMGET', key.session, 'created', 'ends', 'code', 'host', 'host_note', 'provider', 'locked',
    'paused', 'sequence', 'bytes', 'added', 'current', 'votes', 'crowd', 'finished')
  local created, ends = integer(got[1], 0, YEAR_9999_MS), integer(got[2], 0, YEAR_9999_MS)
  if not (created and ends and got[3] and got[4]) or ends <= now_ms then return nil end
  local votes = got[12] and number(got[13]) or 0
  return {
    created = created, ends = ends, code = got[3], host = got[4], host_note = got[5], provider = got[6] or nil,
    locked = got[7] == '1', paused = got[8] == '1', sequence = integer(got[9], 0, SONGS_MAX) or SONGS_MAX,
    bytes = integer(got[10], 0, INTEGER_MAX) or 0, added = integer(got[11], 0, YEAR_9999_MS) or 0,
    current = got[12] or nil, votes = votes, crowd = got[14] == '1',
    finished = integer(got[15], 0, INTEGER_MAX) or 0,
  }
end

-- The host as clients are told of it.
local function host_of(session)
  local _, kind, name = noted(session.host_note)
  return person(session.host, kind, name or '')
end

-- The session that the caller's user takes part in, and what is noted of the user; refuses everybody else.
local function own_session(code, message)
  local session = open_session()
  local note = session and read('HGET', key.people, args.userId)
  if not note then fail(code or 'no_session', message or 'No active session') end
  return session, note
end

-- Which of some users may hear the session now, as part_apart.lua asks. (A hash finds so many names too slowly.)
local function are_here(ids)
  return read('SMISMEMBER', key.members, unpack(ids))
end

-- What `session.updated` tells.
local function standing(session, people, skips)
  return {
    session_id = args.sessionId, host = host_of(session), is_locked = session.locked, is_paused = session.paused,
    participant_count = people, skip_request_count = skips, last_skip_was_crowdsourced = session.crowd,
  }
end

local function tell_standing(session, people, skips)
  emit('session:' .. args.sessionId, 'session.updated', standing(session, people, skips))
end
