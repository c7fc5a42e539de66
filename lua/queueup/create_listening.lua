-- @command  create_listening
-- @summary  Make a listening session under a join code; who makes it is its host and takes part in it.
-- @http     POST /api/v1/sessions/create
-- @allow    user|service
-- @arg      joinCode     id as join_code -- 4 to 20 characters
-- @arg      hostProvider enum spotify,apple_music optional as host_provider -- where the host's songs play
-- @arg      userId       user -- who makes it
-- @derive   sessionId = uuid()
-- @span     joinCode reads userId -- the code, the user and the new session are three homes, and must agree
-- @include  session
-- @include  apart
-- @include  opening
-- @include  stays
-- @include  taking
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
-- @steps    open_listening, take_listening
-- @returns  listening
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
local former = read('HMGET', key.listening, 'session', 'tag', 'code', 'at')
local blocks = read('SRANDMEMBER', key.blocks, BLOCKS_MAX)

local tag = new_tag(former[4])
local session = {created = now_ms, ends = now_ms + SESSION_MS, host = args.userId, host_note = stay(tag),
  code = args.joinCode, provider = args.hostProvider}
write('SET', key.code, args.sessionId, 'PXAT', session.ends)
if homes_apart then
  step('open_listening', {
    sessionId = args.sessionId, userId = args.userId, code = args.joinCode, hostNote = session.host_note,
    hostProvider = args.hostProvider, created = now_ms, blocks = array(blocks),
  })
else
  open_for(session, blocks)
end
take_up({session = args.sessionId, tag = tag, code = args.joinCode, guest = false, leads = true,
  ends = session.ends}, former)
return {
  session = {
    id = args.sessionId, join_code = args.joinCode, created_at = iso(now_ms), host = host_of(session),
    host_provider = args.hostProvider,
  },
  queue = array(), my_votes = {}, skip_request_count = 0, participant_count = 1, user_requested_skip = false,
  last_skip_was_crowdsourced = false,
}
