-- @part     lifetime
-- @summary  When a listening session ends.
--
-- It goes behind part_session.lua.

-- Gives the session another end, and with it all keys that last longer than who takes part.
local function end_at(session, ends)
  session.ends = ends
  write('HSET', key.session, 'ends', decimal(ends))
  for _, name in ipairs({'session', 'songs', 'order', 'adders', 'history', 'chat', 'apart'}) do
    ends_with(session, key[name])
  end
  if not homes_apart then return ends_with(session, key.code) end
  local version = (integer(read('HGET', key.session, 'code_version'), 0, INTEGER_MAX - 1) or 0) + 1
  write('HSET', key.session, 'code_version', decimal(version))
  step('keep_code', {code = session.code, sessionId = args.sessionId, ends = ends, version = version})
end
