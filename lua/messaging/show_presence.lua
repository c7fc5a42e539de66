-- @command  show_presence
-- @summary  Tell a conversation that one of its members is online, or was last seen when.
-- @allow    worker
-- @arg      conversationId id
-- @arg      userId         id
-- @arg      online         bool
-- @arg      at             time -- of the last heartbeat
-- @arg      version        int 0..9007199254740991 optional -- of the user's home
-- @include  pair
-- @include  conversation
-- @include  version
-- @key      roll     conversation:{conversationId}#roll
-- @key      walls    conversation:{conversationId}#walls
-- @key      pair     pair:{conversationId}#blocks
-- @key      online   conversation:{conversationId}#online
-- @key      online_at conversation:{conversationId}#online_at
-- @topic    conversation:{conversationId}
-- @emits    presence:changed {conversationId: string, userId: string, online: bool, lastSeen: string}
-- @returns  {told: bool}
-- @cost     O(n) in the members, at most 50
-- @weight   400
-- @idempotent
--
-- A member who has neither written nor read here is not shown. Of two calls the one of the later version counts,
-- whichever comes first.

local roll = load_roll(args.conversationId)
local one = roll[args.userId]
if not one or not is_shown(one) then return {told = false} end
if not is_newer(key.online_at, args.userId, args.version) then return {told = false} end
local at = math.max(0, math.min(args.at, YEAR_9999_MS))
local now = (args.online and '1 ' or '0 ') .. decimal(at)
if read('HGET', key.online, args.userId) == now then return {told = false} end
write('HSET', key.online, args.userId, now)
write('EXPIRE', key.online, TTL_S)
if next(walled_from(args.userId)) ~= nil then return {told = false} end
emit('conversation:' .. args.conversationId, 'presence:changed', {
  conversationId = args.conversationId, userId = args.userId, online = args.online, lastSeen = iso(at),
})
return {told = true}
