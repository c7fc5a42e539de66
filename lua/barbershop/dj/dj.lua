-- @command  dj
-- @summary  A shop's DJ session with a page of its queue in order; the first is the state of the `dj` topic.
-- @http     GET /v1/shops/{shopId}/dj
-- @allow    anonymous|user|service
-- @arg      shopId id
-- @arg      from   int 0..500 = 0 -- how many tracks of the queue to leave out
-- @include  dj_page
-- @key      session dj:{shopId}#session
-- @key      tracks  dj:{shopId}#tracks
-- @key      tally   dj:{shopId}#tally
-- @key      order   dj:{shopId}#order
-- @key      voters  dj:{shopId}#voters
-- @returns  dj_state -- next is null behind the last page
-- @cost     O(n) in the tracks told, at most 100
-- @weight   2200
-- @readonly
--
-- `next` is what to ask for as `from`. In a session that names its voters (start_session.lua) `upvotes` and `downvotes`
-- are lists of users, and `upvoteCount` and `downvoteCount` stand beside them; otherwise they are the counts.

local session = read('HMGET', key.session, 'isActive', 'startedAt', 'current')
local queued = math.min(read('ZCARD', key.order), QUEUE_MAX)
local items, place = page(key, args.from, queued, read, decode)
local started = integer(session[2], 0, YEAR_9999_MS)
local current = members(session[3], decode, CURRENT_BYTES_MAX)
return {
  shopId = args.shopId, isActive = session[1] == '1', currentTrack = current and raw(current .. '}') or null,
  queue = raw('[' .. table.concat(items, ',') .. ']'), startedAt = started and iso(started) or null,
  next = place < queued and place or null,
}
