-- @part     ticket
-- @summary  The listening session that a ticket of a QR code opens.

-- The session of the ticket; refuses one that is unknown or over as it refuses an unknown session. A session without
-- anybody in it is entered by its code.
local function ticket_session()
  local ends = integer(read('HGET', key.tickets, args.ticket), 0, YEAR_9999_MS)
  local session = ends and ends > now_ms and open_session()
  if not session or read('HLEN', key.people) == 0 then fail('not_found', 'This code is no longer valid') end
  return session
end
