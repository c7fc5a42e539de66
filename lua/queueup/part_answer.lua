-- @part     answer
-- @summary  The whole of a listening session as one of its users is told it.
-- @type     session {id: string, join_code: string, created_at: string, host: person,
--            host_provider?: 'spotify'|'apple_music'}
-- @type     listening {session: session, current_song?: song, queue: [song], my_votes: {*: int},
--            skip_request_count: int, participant_count: int, user_requested_skip: bool,
--            last_skip_was_crowdsourced: bool}
--
-- It goes behind part_songs.lua. Whom the user blocks and who blocks the user is not named as having added a song. The
-- host is told to everybody: apps find out by it who leads the session.

-- The answer for the caller's user, while `people` take part.
local function whole_session(session, people)
  local list, current = queue(), current_item(session)
  local named = {unpack(list)}
  named[#named + 1] = current
  local hidden = hidden_from(args.userId, adders_of(named))
  local ids = {}
  for index, item in ipairs(list) do ids[index] = item.id end
  ids[#ids + 1] = session.current
  local votes = {}
  if #ids > 0 then
    for index, ballot in ipairs(read('HMGET', key.ballots, unpack(ids))) do
      if ballot == '1' then votes[ids[index]] = 1 elseif ballot == '-1' then votes[ids[index]] = -1 end
    end
  end
  return {
    session = {
      id = args.sessionId, join_code = session.code, created_at = iso(session.created), host = host_of(session),
      host_provider = session.provider,
    },
    current_song = current and raw(told(shown(current, hidden), 'playing', session.votes)),
    queue = raw(queue_text(list, hidden)), my_votes = votes,
    skip_request_count = read('SCARD', key.skips), participant_count = people,
    user_requested_skip = read('SISMEMBER', key.skips, args.userId) == 1,
    last_skip_was_crowdsourced = session.crowd,
  }
end
