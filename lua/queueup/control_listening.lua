-- @command  control_listening
-- @summary  Lock or unlock a listening session, pause it, skip its song, or pass it on; its host may.
-- @http     PATCH /api/v1/sessions/control_session
-- @allow    user|service
-- @arg      isLocked bool optional as is_locked
-- @arg      skip     bool optional as skip_current_track
-- @arg      isPaused bool optional as pause_playback
-- @arg      guests   int 1..100 optional as guests_per_address -- who may come by one ticket from one address
-- @arg      host     id optional as host_id -- who leads the session from now on
-- @arg      userId   user -- the host
-- @resolve  sessionId = user:{userId}#listening session else no_session 404 -- No active session
-- @include  session
-- @include  apart
-- @include  songs
-- @include  playing
-- @include  stays
-- @include  heir
-- @key      session session:{sessionId}#session
-- @key      people  session:{sessionId}#people
-- @key      members session:{sessionId}#members
-- @key      apart   session:{sessionId}#apart
-- @key      skips   session:{sessionId}#skips
-- @key      songs   session:{sessionId}#songs
-- @key      order   session:{sessionId}#order
-- @key      adders  session:{sessionId}#adders
-- @key      history session:{sessionId}#history
-- @topic    session:{sessionId}
-- @calls    note_host
-- @emits    session.updated standing
-- @emits    now_playing.updated {session_id: string, current_song?: song}
-- @emits    queue.updated {session_id: string, queue: [song]}
-- @returns  {ok: bool}
-- @errors   no_session 404, forbidden, not_found
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   3000
-- @rate     30/60 s user
-- @rate     5/1 s user

local session = own_session()
if session.host ~= args.userId then fail('forbidden', 'You are not the host of this session') end
local people = read('HLEN', key.people)
local before = {locked = session.locked, paused = session.paused}
if args.isLocked ~= nil then session.locked = args.isLocked end
if args.isPaused ~= nil then session.paused = args.isPaused end
if args.guests then write('HSET', key.session, 'address_guests', decimal(args.guests)) end
local heir = args.host
-- Swift writes UUIDs in capitals.
if heir and read('HEXISTS', key.people, heir) == 0 then heir = string.lower(heir) end
local is_passed_on = heir ~= nil and heir ~= session.host
if is_passed_on then
  local note = read('HGET', key.people, heir)
  if not note then fail('not_found', 'This person is not in your session') end
  if select(2, noted(note)) == 'guest' then fail('forbidden', 'A guest cannot be the host') end
  lead(session, heir, note)
end
local has_changed = is_passed_on or session.locked ~= before.locked or session.paused ~= before.paused
if has_changed then
  write('HSET', key.session, 'locked', session.locked and '1' or '0', 'paused', session.paused and '1' or '0')
end
if args.skip and session.current then
  advance(session, 'skipped', people, false)
elseif has_changed then
  tell_standing(session, people, read('SCARD', key.skips))
end
return {ok = true}
