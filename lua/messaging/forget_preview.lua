-- @command  forget_preview
-- @summary  Have a user's own topic forget the beginning of a message that was changed or removed.
-- @allow    worker
-- @arg      userId    id
-- @arg      messageId id
-- @key      forgotten user:{userId}#forgotten
-- @key      log       user:{userId}#log
-- @returns  {found: bool}
-- @cost     O(log n) in what is still to be forgotten
-- @weight   150
-- @idempotent
--
-- `conversation:updated` has the beginning of the newest message, and stays in the log of the user's topic. The events
-- are found and deleted by forgotten_refresh.lua. The member of the zset is the text that they have, so that no id that
-- a sender has chosen finds anything else.

local WAITING_MAX = 1000

if read('EXISTS', key.log) == 0 or read('ZCARD', key.forgotten) >= WAITING_MAX then return {found = false} end
write('ZADD', key.forgotten, 0, 'lastMessageId":"' .. args.messageId)
write('EXPIRE', key.forgotten, FORGOTTEN_S)
return {found = true}
