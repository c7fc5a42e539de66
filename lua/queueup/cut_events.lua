-- @command  cut_events
-- @summary  Delete the log of a listening session, which tells more of others than somebody who came in may be shown.
-- @allow    worker
-- @arg      sessionId id
-- @key      log       session:{sessionId}#log
-- @topic    session:{sessionId}
-- @returns  {cut: bool}
-- @cost     O(1); the log is freed in the background
-- @weight   100
-- @idempotent
--
-- A client that comes back to a position in it gets a gap, and asks for the session.

write('UNLINK', key.log)
return {cut = true}
