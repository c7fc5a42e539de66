-- @command  visit_ticket
-- @summary  Take part in the listening session of a QR code without an account, by a token for this session alone.
-- @http     POST /api/v1/sessions/{id}/visit 201
-- @allow    anonymous|service
-- @arg      sessionId id fold lower as id
-- @arg      ticket    id
-- @derive   userId = uuid()
-- @derive   network = address()
-- @span     sessionId reads userId -- the guest's session and the session's users must agree
-- @include  session
-- @include  lifetime
-- @include  apart
-- @include  songs
-- @include  answer
-- @include  stays
-- @include  taking
-- @include  entering
-- @include  ticket
-- @key      session   session:{sessionId}#session
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @key      people    session:{sessionId}#people
-- @key      guests    session:{sessionId}#guests
-- @key      apart     session:{sessionId}#apart
-- @key      members   session:{sessionId}#members
-- @key      skips     session:{sessionId}#skips
-- @key      songs     session:{sessionId}#songs
-- @key      order     session:{sessionId}#order
-- @key      ballots   session:{sessionId}#ballots#{userId}
-- @key      tickets   session:{sessionId}#tickets
-- @key      arrivals  session:{sessionId}#arrivals
-- @topic    session:{sessionId}
-- @members
-- @mint     session:{sessionId} 6 h
-- @calls    depart, cut_events, note_host
-- @steps    take_listening, keep_code
-- @emits    session.updated standing
-- @returns  {token: string, user: person, session: session, current_song?: song, queue: [song], my_votes: {*: int},
--           skip_request_count: int, participant_count: int, user_requested_skip: bool,
--           last_skip_was_crowdsourced: bool}
-- @errors   not_found, locked 403, full 409
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   2000
-- @rate     20/60 s address
-- @rate     60/3600 s address
-- @random
--
-- Each visit is another guest. Guests cost nothing to make, so a session takes GUESTS_MAX of them in its life (`guests`
-- of the hash `session`), fewer than there is room for; and none while it is locked, whoever has made the ticket. The
-- token opens the topic and the commands of this session, as long as the guest takes part.
--
-- One phone could be many guests and outvote all others. So few come by one ticket from one address: ADDRESS_GUESTS,
-- unless the host has said how many (control_listening.lua). `arrivals` is a hash, of a digest of both -> how many have
-- come, and ends TICKET_MS after the last. An address that stands for many, such as a backend's, is not counted.

local GUESTS_MAX = 100
local ADDRESS_GUESTS = 3

local session, ticket = ticket_session()
if session.locked then fail('locked', 'This session is locked') end
local counted = read('HMGET', key.session, 'guests', 'address_guests')
local guests = integer(counted[1], 0, INTEGER_MAX) or 0
if guests >= GUESTS_MAX then fail('full', 'This session takes no more guests') end
if args.network ~= 'none' then
  local visitor = string.sub(sha1(ticket .. ' ' .. args.network), 1, 24)
  local came = integer(read('HGET', key.arrivals, visitor), 0, GUESTS_MAX) or 0
  if came >= (integer(counted[2], 1, GUESTS_MAX) or ADDRESS_GUESTS) then
    fail('full', 'Enough guests have come by this code from your network')
  end
  write('HSET', key.arrivals, visitor, decimal(came + 1))
  write('PEXPIRE', key.arrivals, TICKET_MS)
end
write('HSET', key.session, 'guests', decimal(guests + 1))
local answer = enter(session, function() end, {})
answer.user = person(mint(args.userId), 'guest', '')
return answer
