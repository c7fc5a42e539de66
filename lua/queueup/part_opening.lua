-- @part     opening
-- @summary  A new listening session with its host in it.
--
-- It goes behind part_session.lua and part_apart.lua.

-- Makes the session {created, ends, host, host_note, code, provider}; `blocks` are whom the host blocks.
local function open_for(session, blocks)
  write('HSET', key.session, 'created', decimal(session.created), 'ends', decimal(session.ends), 'code', session.code,
    'host', session.host, 'host_note', session.host_note, 'locked', '0', 'paused', '0', 'crowd', '0', 'sequence', '0',
    'bytes', '0', 'finished', '0')
  if session.provider then write('HSET', key.session, 'provider', session.provider) end
  write('HSET', key.people, session.host, session.host_note)
  keep_blocks(session.host, blocks)
  admit('session:' .. args.sessionId, session.host)
  for _, name in ipairs({key.session, key.people, key.members, key.apart}) do ends_with(session, name) end
end
