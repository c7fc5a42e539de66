-- @command  call_pushes
-- @summary  Hand what waits for a user's devices to a courier.
-- @allow    worker
-- @arg      userId  id
-- @arg      round   time -- the name of the call, as pushes_refresh.lua has noted it
-- @key      pushes  user:{userId}#pushes
-- @key      call    user:{userId}#push_call
-- @call_out apns pushes_answered
-- @returns  {called: int}
-- @cost     O(log n) in what waits, at most 100
-- @weight   500
--
-- The courier reads what is to be told, and whether it still is, right before it sends. Without room among the calls
-- the user's turn comes again after ROOM_MS.

local CALLED_MAX = 8
local ROOM_MS = 60000

if read('GET', key.call) ~= decimal(args.round) then return {called = 0} end
if call_room('apns') < 1 then
  write('PEXPIRE', key.call, ROOM_MS)
  return {called = 0}
end
local due, pushes, names = read('ZRANGEBYSCORE', key.pushes, '-inf', decimal(now_ms), 'WITHSCORES', 'LIMIT', 0,
  CALLED_MAX), array(), array()
for index = 1, #due, 2 do
  local score = number(due[index + 1])
  if score and string.find(due[index], '^[nc]:[%w._~:-]+$') then
    pushes[#pushes + 1] = {p = due[index], s = math.floor(score)}
    names[#names + 1] = due[index]
  else
    write('ZREM', key.pushes, due[index])
  end
end
if #pushes == 0 then
  write('DEL', key.call)
  return {called = 0}
end
call_out('apns', {user = args.userId, pushes = pushes}, 'pushes_answered',
  {userId = args.userId, round = args.round, pushes = names})
return {called = #pushes}
