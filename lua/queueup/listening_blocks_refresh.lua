-- @summary  Carry a change of whom a user blocks into the listening session that the user takes part in.
-- @refresh  user:{userId}#blocks
-- @arg      userId    id
-- @coalesce 100 ms
-- @include  version
-- @key      blocks    user:{userId}#blocks
-- @key      listening user:{userId}#listening
-- @key      version   user:{userId}#version
-- @calls    note_blocks
-- @returns  {idle: bool}
-- @cost     O(n) in the user's blocks, at most 240
-- @weight   700

local session = read('HGET', key.listening, 'session')
if session and is_id(session) then
  local blocks = {}
  for _, user in ipairs(read('SRANDMEMBER', key.blocks, BLOCKS_MAX)) do
    if is_id(user) then blocks[#blocks + 1] = user end
  end
  later('note_blocks', {
    sessionId = session, userId = args.userId, blocks = array(blocks), version = next_version(key.version),
  })
end
return {idle = true}
