-- @part     going
-- @summary  How a user's stay in a listening session ends at the user's home; part_taking.lua says what is kept there.

-- Ends the stay, if there is one, and at the session by the outbox. `former` is session, tag, code and time.
local function let_go(former)
  local is_in = former[1] and former[2] and former[3]
  if homes_apart then
    write('HDEL', key.listening, 'session', 'tag', 'code', 'guest')
    write('HSET', key.listening, 'at', decimal(math.max((integer(former[4], 0, INTEGER_MAX) or 0) + 1, now_ms)))
    write('PEXPIRE', key.listening, SESSION_MS)
  elseif is_in then
    write('UNLINK', key.listening)
  end
  if is_in then
    later('depart', {sessionId = former[1], userId = args.userId, tag = former[2], code = former[3]})
  end
end
