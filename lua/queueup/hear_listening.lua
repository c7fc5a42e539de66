-- @subscribe session
-- @summary   Who takes part may hear a listening session, and nobody else, whatever a token says.
-- @key       people  session:{id}#people
-- @errors    forbidden
-- @cost      O(1)
-- @weight    50

if caller.user and read('HEXISTS', key.people, caller.user) == 0 then
  fail('forbidden', 'You do not take part in this session')
end
