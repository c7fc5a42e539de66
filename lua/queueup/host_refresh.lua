-- @summary  Give a listening session another host when its own has left or given no sign for five minutes.
-- @refresh  session:{sessionId}#host
-- @arg      sessionId id
-- @coalesce 1000 ms
-- @include  session
-- @include  stays
-- @include  heir
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      skips   session:{sessionId}#skips
-- @key      seen    session:{sessionId}#host
-- @topic    session:{sessionId}
-- @calls    note_host
-- @emits    session.updated standing
-- @returns  {idle: bool, again_ms?: int}
-- @cost     O(n) in those who take part, at most 500
-- @weight   1500
--
-- The heir is the user who has been there for longest, and no guest. The heir has five minutes to give a sign. A host
-- who comes back later is a user like others, and the heir may pass the session on.

local HOST_AWAY_MS = 300000
local AGAIN_MS = 60000

local session = open_session()
local seen = session and integer(read('GET', key.seen), 0, INTEGER_MAX)
if not seen then return {idle = true} end
local due = math.min(seen, now_ms) + HOST_AWAY_MS
if now_ms < due then return {idle = false, again_ms = due} end
local heir, note = heir_of(session.host)
-- Where all others are guests somebody with an account may still come.
if not heir then return {idle = false, again_ms = now_ms + AGAIN_MS} end
lead(session, heir, note)
write('SET', key.seen, decimal(now_ms), 'PXAT', session.ends)
tell_standing(session, read('HLEN', key.people), read('SCARD', key.skips))
return {idle = false, again_ms = now_ms + HOST_AWAY_MS}
