-- @part     entering
-- @summary  How a user comes into a listening session and leaves the one before.
--
-- It goes behind part_answer.lua and part_taking.lua. While the user was away, events told all of those whom the user
-- must not be shown. So the log is deleted when the user comes in and one of them is there (cut_events.lua).

-- Whether somebody takes part who must not be shown the user, nor the user that one.
local function meets_hidden(host)
  local ids = {}
  for other in pairs(hidden_from(args.userId, {host})) do ids[#ids + 1] = other end
  for _, is_there in ipairs(#ids > 0 and are_here(ids) or {}) do
    if is_there == 1 then return true end
  end
  return false
end

-- Lets the caller's user take part, and answers with the whole session. `may_enter` refuses who may not come in anew;
-- `blocked` are whom the user blocks.
local function enter(session, may_enter, blocked)
  local note = read('HGET', key.people, args.userId)
  local people = read('HLEN', key.people)
  local former = read('HMGET', key.listening, 'session', 'tag', 'code', 'at')
  if note and former[1] == args.sessionId and former[2] == noted(note) then return whole_session(session, people) end
  if not note then
    may_enter()
    if people >= PEOPLE_MAX then fail('full', 'This session is full') end
    people = people + 1
    -- An empty session that somebody comes back to lasts as long as any other.
    if people == 1 then end_at(session, session.created + SESSION_MS) end
  end
  local tag = new_tag(former[4], noted(note))
  local own = stay(tag)
  local is_guest = string.find(own, '^%x+ guest ') ~= nil
  write('HSET', key.people, args.userId, own)
  see_guest(session, own)
  ends_with(session, key.people)
  keep_blocks(args.userId, blocked)
  if not note and meets_hidden(session.host) then later('cut_events', {sessionId = args.sessionId}) end
  ends_with(session, key.apart)
  admit('session:' .. args.sessionId, args.userId)
  ends_with(session, key.members)
  take_up({session = args.sessionId, tag = tag, code = session.code, guest = is_guest, leads = false,
    ends = session.ends}, former)
  if session.host == args.userId then
    later('note_host', {userId = args.userId, sessionId = args.sessionId, leads = true})
  end
  if not note then tell_standing(session, people, read('SCARD', key.skips)) end
  return whole_session(session, people)
end
