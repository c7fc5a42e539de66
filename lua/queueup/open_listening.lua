-- @command  open_listening
-- @summary  Make a listening session whose join code is taken: the step of create_listening.lua at the session.
-- @allow    worker
-- @arg      sessionId    id
-- @arg      userId       id -- the host
-- @arg      code         id
-- @arg      hostNote     string 1..200 -- what `people` notes of the host
-- @arg      hostProvider enum spotify,apple_music optional
-- @arg      created      int 0..9007199254740991 -- ms
-- @arg      blocks       ids 0..240 -- whom the host blocks
-- @include  session
-- @include  apart
-- @include  opening
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @topic    session:{sessionId}
-- @members
-- @returns  {opened: bool}
-- @cost     O(n) in the blocks, at most 240
-- @weight   1300
-- @idempotent

if read('EXISTS', key.session) == 1 then return {opened = false} end
open_for({created = args.created, ends = args.created + SESSION_MS, host = args.userId, host_note = args.hostNote,
  code = args.code, provider = args.hostProvider}, args.blocks)
return {opened = true}
