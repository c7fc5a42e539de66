-- @command  beat_host
-- @summary  Note that the host of a listening session is still there.
-- @allow    worker
-- @arg      sessionId id
-- @arg      userId    id
-- @include  session
-- @key      session session:{sessionId}#session
-- @key      seen    session:{sessionId}#host
-- @returns  {host: bool}
-- @cost     O(1)
-- @weight   150
-- @idempotent

local NOTED_MS = 60000 -- a sign is noted when the last one is older

local session = open_session()
if not session or session.host ~= args.userId then return {host = false} end
local seen = integer(read('GET', key.seen), 0, now_ms)
if not seen or now_ms - seen >= NOTED_MS then write('SET', key.seen, decimal(now_ms), 'PXAT', session.ends) end
return {host = true}
