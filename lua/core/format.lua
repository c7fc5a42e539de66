-- The forms and times that several of the gateway's own scripts share. A script says inline.NAME(ARGUMENT, ...), and
-- Redis gets the text behind the `=` in its place. Gateways read these forms, so tests compare both sides
-- (Tests/Fixtures/vectors/event_format.json).

-- The message on a topic's channel. `id` is the event's id or `-`, then, after a space, the session that does not want
-- the event back.
-- @inline message epoch offset name id data = 'P' .. epoch .. ' ' .. offset .. ' ' .. name .. ' ' .. id .. '\n' .. data

-- The fields of an entry of the log.
-- @inline entry event data id now_ms = 'e', event, 'd', data, 'i', id, 't', now_ms

-- Whether the log is cut when it gets this offset (text): a long log is cut at every tenth.
-- @inline cuts log_max offset = #log_max < 3 or string.byte(offset, -1) == 48

-- The seconds that a renewed log, and its position, live longer than promised: an eighth, at least one.
-- @inline spare ttl = math.ceil(ttl / 8)

-- Whether a log lives on without being renewed, when `left` ms are left: at least half of the spare eighth beyond the
-- promised life, and at most all of it with the second by which it is rounded up. More was written by a longer policy.
-- @inline lasts left ttl = left >= ttl * 1062.5 and left <= ttl * 1125 + 1000
