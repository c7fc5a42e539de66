-- @part     ticket
-- @summary  The listening session that a ticket of a QR code opens.

-- When a ticket ends and whose guests it counts among, from what make_ticket.lua has stored of it; nil for none.
local function ticket_of(text)
  local ends, group = string.match(text or '', '^(%d+) ?(%x*)$')
  return integer(ends, 0, YEAR_9999_MS), group
end

-- The session of the ticket; refuses one that is unknown or over as it refuses an unknown session. A session without
-- anybody in it is entered by its code.
local function ticket_session()
  local ends, group = ticket_of(read('HGET', key.tickets, args.ticket))
  local session = ends and ends > now_ms and open_session()
  if not session or read('HLEN', key.people) == 0 then fail('not_found', 'This code is no longer valid') end
  return session, group ~= '' and group or args.ticket
end
