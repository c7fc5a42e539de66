-- @command  export_listener
-- @summary  What is kept of a user by the listening sessions, beside what each of them tells those who take part.
-- @allow    service|worker
-- @arg      userId user
-- @exports
-- @key      listening user:{userId}#listening
-- @key      sessions  user:{userId}#sessions
-- @key      past      user:{userId}#past
-- @returns  {session: string|null, sessions: [string],
--           past: [string]} -- the session that the user takes part in or null, and those of the last day
-- @cost     O(n) in the user's sessions of the last day, at most 50
-- @weight   200
-- @readonly

return {
  session = read('HGET', key.listening, 'session') or null, sessions = array(read('ZRANGE', key.sessions, 0, 49)),
  past = array(read('ZRANGE', key.past, 0, SESSIONS_USER_MAX - 1)),
}
