-- @part     taking
-- @summary  The one listening session that a user takes part in, as the user's own keys have it.
--
-- Who takes part is decided at the session (`people`), and which session is the user's at the user's home. On a Redis
-- Cluster the session lets the user in, and a step at the home makes it the user's (take_listening.lua). There the hash
-- `listening` keeps the time `at` of the last coming or going, which also grows when a clock goes back. A step that
-- comes too late ends the stay that it was for.

local SESSIONS_USER_MAX = 50

-- Makes a stay the user's: {session, tag, code, guest, ends}. `former` is the one before: session, tag, code.
local function take(stay, former)
  write('HSET', key.listening, 'session', stay.session, 'tag', stay.tag, 'code', stay.code,
    'guest', stay.guest and '1' or '0')
  write('PEXPIREAT', key.listening, stay.ends)
  write('ZREMRANGEBYSCORE', key.sessions, '-inf', decimal(now_ms))
  write('ZADD', key.sessions, decimal(stay.ends), stay.session)
  write('ZREMRANGEBYRANK', key.sessions, 0, -1 - SESSIONS_USER_MAX)
  write('PEXPIRE', key.sessions, SESSION_MS)
  if former[1] and former[2] and former[3] and former[1] ~= stay.session then
    later('depart', {sessionId = former[1], userId = args.userId, tag = former[2], code = former[3]})
  end
end

-- The time in the tag of a stay, 0 where there is none.
local function time_of(tag)
  return #(tag or '') > 12 and tonumber(string.sub(tag, 1, -13), 16) or 0
end

-- The tag of a new stay. Where homes lie apart it begins with a time after the user's last coming or going, and after
-- the stay in this session before.
local function new_tag(last, before)
  local digits = string.sub(random, 1, 12)
  if not homes_apart then return digits end
  return string.format('%x', math.max((integer(last, 0, INTEGER_MAX) or 0) + 1, time_of(before) + 1, now_ms)) .. digits
end

-- Makes a stay the user's, here or by a step at the user's home.
local function take_up(stay, former)
  if not homes_apart then return take(stay, former) end
  step('take_listening', {
    userId = args.userId, sessionId = stay.session, tag = stay.tag, code = stay.code, isGuest = stay.guest,
    ends = stay.ends,
  })
end
