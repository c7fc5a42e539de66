-- @part     taking
-- @summary  The one listening session that a user takes part in, as the user's own keys have it.
--
-- Who takes part is decided at the session (`people`), and which session is the user's at the user's home. On a Redis
-- Cluster the session lets the user in, and a step at the home makes it the user's (take_listening.lua). There the hash
-- `listening` keeps the time `at` of the last coming or going, which also grows when a clock goes back. A step that
-- comes too late ends the stay that it was for.

local PAST_S = 7776000 -- 90 days

-- Notes with the user that the session is one of the user's.
local function note_past(stay)
  write('ZADD', key.past, decimal(now_ms), stay.session .. ' ' .. stay.code)
  write('ZREMRANGEBYRANK', key.past, 0, -1 - SESSIONS_USER_MAX)
  write('EXPIRE', key.past, PAST_S)
end

-- Makes a stay the user's: {session, tag, code, guest, leads, ends}. `former` is the one before: session, tag, code.
local function take(stay, former)
  write('HSET', key.listening, 'session', stay.session, 'tag', stay.tag, 'code', stay.code,
    'guest', stay.guest and '1' or '0', 'host', stay.leads and '1' or '0')
  write('PEXPIREAT', key.listening, stay.ends)
  write('ZREMRANGEBYSCORE', key.sessions, '-inf', decimal(now_ms))
  write('ZADD', key.sessions, decimal(stay.ends), stay.session)
  write('ZREMRANGEBYRANK', key.sessions, 0, -1 - SESSIONS_USER_MAX)
  write('PEXPIRE', key.sessions, SESSION_MS)
  if not stay.guest then note_past(stay) end
  if former[1] and former[2] and former[3] and former[1] ~= stay.session then
    later('depart', {sessionId = former[1], userId = args.userId, tag = former[2], code = former[3]})
  end
end

-- Makes a stay the user's, here or by a step at the user's home.
local function take_up(stay, former)
  if not homes_apart then return take(stay, former) end
  step('take_listening', {
    userId = args.userId, sessionId = stay.session, tag = stay.tag, code = stay.code, isGuest = stay.guest,
    leads = stay.leads, ends = stay.ends,
  })
end
