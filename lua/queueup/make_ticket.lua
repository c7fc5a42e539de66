-- @command  make_ticket
-- @summary  Make a ticket for a QR code: who shows it within minutes may come into the listening session.
-- @http     POST /api/v1/sessions/qr 201
-- @allow    user|service
-- @arg      userId user -- who takes part and invites
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  ticket
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      tickets session:{sessionId}#tickets
-- @returns  {session_id: string, join_code: string, ticket: string,
--           expires_at: string} -- a link to show has session_id and ticket in it
-- @errors   no_session 404, forbidden, too_many 409
-- @cost     O(n) in the tickets of the session, at most 50
-- @weight   400
-- @rate     10/60 s user
-- @rate     2/1 s user
-- @random
--
-- The hash `tickets` has ticket -> the time it ends, ms, and behind a blank whose it is: guests are counted for each
-- ticket of the host, and for all tickets of another together (visit_ticket.lua). Guests may not invite. While a
-- session is locked only its host may: such a ticket opens it, as do tickets from before.

local TICKETS_MAX = 50

local session = own_session()
if caller.guest then fail('forbidden', 'Guests cannot invite others') end
if session.locked and session.host ~= args.userId then fail('forbidden', 'This session is locked') end
local tickets, live, over = read('HGETALL', key.tickets), 0, {}
for index = 1, #tickets, 2 do
  local ends = ticket_of(tickets[index + 1])
  if ends and ends > now_ms then live = live + 1 else over[#over + 1] = tickets[index] end
end
if live >= TICKETS_MAX then fail('too_many', 'A session has at most ' .. TICKETS_MAX .. ' tickets at a time') end
if #over > 0 then write('HDEL', key.tickets, unpack(over)) end
local group = session.host == args.userId and '' or string.sub(sha1(args.sessionId .. ' ' .. args.userId), 1, 16)
write('HSET', key.tickets, random, decimal(now_ms + TICKET_MS) .. ' ' .. group)
ends_with(session, key.tickets)
return {
  session_id = args.sessionId, join_code = session.code, ticket = random, expires_at = iso(now_ms + TICKET_MS),
}
