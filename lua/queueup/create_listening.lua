-- @command  create_listening
-- @summary  Make a listening session under a join code; who makes it is its host and takes part in it.
-- @http     POST /api/v1/sessions/create
-- @allow    user|service
-- @arg      joinCode     id as join_code -- 4 to 20 characters
-- @arg      hostProvider enum spotify,apple_music optional as host_provider -- where the host's songs play
-- @arg      userId       user -- who makes it
-- @derive   sessionId = uuid()
-- @span     -- the code, the user and the new session are three homes, and one of them alone would be wrong
-- @include  session
-- @include  apart
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @key      code      joincode:{joinCode}
-- @key      blocks    user:{userId}#blocks
-- @key      session   session:{sessionId}#session
-- @key      people    session:{sessionId}#people
-- @key      apart     session:{sessionId}#apart
-- @key      members   session:{sessionId}#members
-- @topic    session:{sessionId}
-- @members
-- @calls    depart
-- @returns  {session, current_song, queue, my_votes, participant_count, skip_request_count, user_requested_skip}
-- @errors   forbidden, code_taken 409
-- @cost     O(1)
-- @weight   1000
-- @rate     10/60 s user
-- @rate     3/1 s user
-- @random
--
-- A code is its session's until the session ends. What the user was in before is left by the outbox (depart.lua).

local CODE_MIN, CODE_MAX = 4, 20

if caller.guest then fail('forbidden', 'Guests cannot create sessions. Please sign in first.') end
if #args.joinCode < CODE_MIN or #args.joinCode > CODE_MAX then
  fail('bad_request', 'A join code has ' .. CODE_MIN .. ' to ' .. CODE_MAX .. ' characters')
end
if read('GET', key.code) then fail('code_taken', 'This join code is already in use. Please choose another.') end
local former = read('HMGET', key.listening, 'session', 'tag', 'code')

local tag = new_tag()
local session = {created = now_ms, ends = now_ms + SESSION_MS, host = args.userId, host_note = stay(tag)}
write('SET', key.code, args.sessionId, 'PXAT', session.ends)
write('HSET', key.session, 'created', decimal(now_ms), 'ends', decimal(session.ends), 'code', args.joinCode,
  'host', args.userId, 'host_note', session.host_note, 'locked', '0', 'paused', '0', 'crowd', '0', 'sequence', '0',
  'bytes', '0', 'finished', '0')
if args.hostProvider then write('HSET', key.session, 'provider', args.hostProvider) end
write('HSET', key.people, args.userId, session.host_note)
keep_blocks(args.userId, read('SRANDMEMBER', key.blocks, BLOCKS_MAX))
admit('session:' .. args.sessionId, args.userId)
for _, name in ipairs({key.session, key.people, key.members, key.apart}) do ends_with(session, name) end
write('HSET', key.listening, 'session', args.sessionId, 'tag', tag, 'code', args.joinCode, 'guest', '0',
  'host', '1')
ends_with(session, key.listening)
write('ZREMRANGEBYSCORE', key.sessions, '-inf', decimal(now_ms))
write('ZADD', key.sessions, decimal(session.ends), args.sessionId)
write('ZREMRANGEBYRANK', key.sessions, 0, -1 - SESSIONS_USER_MAX)
ends_with(session, key.sessions)
note_past(args.joinCode)
if former[1] and former[2] and former[3] then
  later('depart', {sessionId = former[1], userId = args.userId, tag = former[2], code = former[3]})
end
return {
  session = {
    id = args.sessionId, join_code = args.joinCode, created_at = iso(now_ms), host = host_of(session),
    host_provider = args.hostProvider,
  },
  queue = array(), my_votes = {}, skip_request_count = 0, participant_count = 1, user_requested_skip = false,
  last_skip_was_crowdsourced = false,
}
