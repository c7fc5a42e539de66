-- @command  keep_code
-- @summary  Let a join code end with its listening session, whose end is another: the step at the code.
-- @allow    worker
-- @arg      code      id
-- @arg      sessionId id
-- @arg      ends      int 0..9007199254740991 -- ms
-- @arg      version   int 0..9007199254740991 -- of the session; the newest counts
-- @include  version
-- @key      code      joincode:{code}
-- @key      at        joincode:{code}#at
-- @returns  {kept: bool}
-- @cost     O(1)
-- @weight   100
-- @idempotent
--
-- A code that is free again is taken back, unless another session has it.

local holder = read('GET', key.code)
if holder and holder ~= args.sessionId or args.ends <= now_ms then return {kept = false} end
if not is_newer(key.at, args.sessionId, args.version) then return {kept = false} end
write('SET', key.code, args.sessionId, 'PXAT', args.ends)
return {kept = true}
