-- @command  join_listening
-- @summary  Take part in the listening session of a join code, and leave the one before.
-- @http     POST /api/v1/sessions/join
-- @allow    user|service
-- @arg      joinCode id as join_code
-- @arg      userId   user -- who joins
-- @resolve  sessionId = joincode:{joinCode} else not_found 404 -- Session not found
-- @span     sessionId reads userId -- the user's session and the session's users must agree
-- @include  session
-- @include  lifetime
-- @include  apart
-- @include  songs
-- @include  answer
-- @include  stays
-- @include  taking
-- @include  entering
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @key      blocks    user:{userId}#blocks
-- @key      session   session:{sessionId}#session
-- @key      people    session:{sessionId}#people
-- @key      guests    session:{sessionId}#guests
-- @key      apart     session:{sessionId}#apart
-- @key      members   session:{sessionId}#members
-- @key      skips     session:{sessionId}#skips
-- @key      songs     session:{sessionId}#songs
-- @key      order     session:{sessionId}#order
-- @key      ballots   session:{sessionId}#ballots#{userId}
-- @key      adders    session:{sessionId}#adders
-- @key      history   session:{sessionId}#history
-- @key      chat      session:{sessionId}#chat
-- @key      code      joincode:{joinCode}
-- @topic    session:{sessionId}
-- @members
-- @calls    depart, cut_events, note_host
-- @steps    take_listening, keep_code
-- @emits    session.updated standing
-- @returns  listening
-- @errors   not_found, locked 403, full 409
-- @cost     O(n) in the songs of the queue, at most 80
-- @weight   3000
-- @rate     20/60 s user
-- @rate     5/1 s user
-- @random

local session = open_session()
if not session then fail('not_found', 'Session not found') end
return enter(session, function()
  if session.locked then fail('locked', 'This session is locked') end
end, read('SRANDMEMBER', key.blocks, BLOCKS_MAX))
