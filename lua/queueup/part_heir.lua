-- @part     heir
-- @summary  Who leads a listening session when its host is not there any more. Needs the part `session`.

-- Whether one stay began before the other: the tag of a stay begins with its time.
local function is_earlier(tag, other)
  local one, two = time_of(tag), time_of(other)
  if one ~= two then return one < two end
  return tag < other
end

-- The user who has been in the session for longest, and the user's note; nil where all others are guests.
local function heir_of(leaving)
  local people, heir, heir_note, heir_tag = read('HGETALL', key.people), nil, nil, nil
  for index = 1, #people, 2 do
    local user, note = people[index], people[index + 1]
    local tag, kind = noted(note)
    if tag and kind ~= 'guest' and user ~= leaving and (not heir or is_earlier(tag, heir_tag)) then
      heir, heir_note, heir_tag = user, note, tag
    end
  end
  return heir, heir_note
end

-- Makes a user the host. Where the host before plays songs says nothing about the new one.
local function lead(session, user, note)
  if is_id(session.host) then
    later('note_host', {userId = session.host, sessionId = args.sessionId, leads = false})
  end
  later('note_host', {userId = user, sessionId = args.sessionId, leads = true})
  session.host, session.host_note, session.provider = user, note, nil
  write('HSET', key.session, 'host', user, 'host_note', note)
  write('HDEL', key.session, 'provider')
end
