-- @command  take_listening
-- @summary  Make a stay in a listening session the one that a user is in, or end it: the step at the user's home.
-- @allow    worker
-- @arg      userId    id
-- @arg      sessionId id
-- @arg      tag       id -- of the stay
-- @arg      code      id -- the session's join code
-- @arg      isGuest   bool
-- @arg      leads     bool -- whether the user is the session's host
-- @arg      ends      int 0..9007199254740991 -- of the session, ms
-- @include  stays
-- @include  taking
-- @include  version
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @key      blocks    user:{userId}#blocks
-- @key      version   user:{userId}#version
-- @calls    depart, forget_listener, note_blocks
-- @returns  {taken: bool}
-- @cost     O(n) in the user's blocks, at most 240
-- @weight   800
-- @idempotent
--
-- A stay that began before the user's last coming or going is over: another session has the user, or none. Whom the
-- user has blocked between the session's step and this one, the session is told here: only sessions that are noted at
-- the home hear of a change.

local former = read('HMGET', key.listening, 'session', 'tag', 'code', 'at', 'erased')
if former[1] == args.sessionId and former[2] == args.tag then return {taken = true} end
local at = time_of(args.tag)
if at <= (integer(former[4], 0, INTEGER_MAX) or 0) then
  later('depart', {sessionId = args.sessionId, userId = args.userId, tag = args.tag, code = args.code})
  if at <= (integer(former[5], 0, INTEGER_MAX) or 0) then
    later('forget_listener', {sessionId = args.sessionId, userId = args.userId})
  end
  return {taken = false}
end
take({session = args.sessionId, tag = args.tag, code = args.code, guest = args.isGuest,
  leads = args.leads, ends = args.ends}, former)
write('HSET', key.listening, 'at', decimal(at))
local blocks = {}
for _, user in ipairs(read('SRANDMEMBER', key.blocks, BLOCKS_MAX)) do
  if is_id(user) then blocks[#blocks + 1] = user end
end
later('note_blocks', {
  sessionId = args.sessionId, userId = args.userId, blocks = array(blocks), version = next_version(key.version),
})
return {taken = true}
