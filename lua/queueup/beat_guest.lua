-- @command  beat_guest
-- @summary  Note that a guest of a listening session is still there, so that the guest's votes go on counting.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @include  session
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      guests  session:{sessionId}#guests
-- @returns  {there: bool}
-- @cost     O(log n) in guests
-- @weight   150
-- @idempotent

local session = open_session()
local note = session and read('HGET', key.people, args.userId)
if not note then return {there = false} end
see_guest(session, note)
return {there = true}
