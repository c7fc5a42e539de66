-- @command  pushes_answered
-- @summary  Note what became of pushes: sent, held until a time, or to be tried again; and forget dead devices.
-- @allow    worker
-- @arg      userId  id
-- @arg      round   time
-- @arg      pushes  ids 1..8 -- what was called
-- @arg      outcome enum ok,failed
-- @arg      answer  json 16384 6 optional -- {results: [{p, s, at, tries, done}], dead: [{device, until}], rest}
-- @include  device
-- @include  version
-- @key      pushes  user:{userId}#pushes
-- @key      tries   user:{userId}#push_tries
-- @key      call    user:{userId}#push_call
-- @key      devices user:{userId}#devices
-- @key      version user:{userId}#version
-- @calls    free_token
-- @returns  {done: int, again: int, dead: int}
-- @cost     O(m log n) in the pushes called, at most 8, and what waits, at most 100
-- @weight   900
--
-- A result without `at` is done with. With `at` it waits until then; `tries` says how often it could not be sent, and
-- `done` which devices have it. `s` is its time as it was called: with another time there is news that the push did not
-- have, and it goes again, to every device. `rest` is a time before which nothing of the user is called again: what
-- failed by no fault of a device then still comes before what is newer.

local AGAIN_MS = 60000
local REST_MS_MAX = 3600000
local REST_MS = 2000 -- until the user's next call: a sender of many messages makes a phone ring no more often
local WAIT_MS_MAX = 172800000
local TRIES_TTL_S = 172800
local DEAD_MAX = 10

if read('GET', key.call) ~= decimal(args.round) then return {done = 0, again = 0, dead = 0} end
local called, done, again, dead = {}, 0, 0, 0
for _, member in ipairs(args.pushes) do called[member] = true end
local answer = args.outcome == 'ok' and decode(args.answer)
if type(answer) ~= 'table' then answer = {} end

local rest = type(answer.rest) == 'number' and answer.rest == answer.rest and answer.rest - now_ms or 0
write('SET', key.call, 'rest', 'PX', decimal(math.floor(math.min(math.max(rest, REST_MS), REST_MS_MAX))))

-- Another time than before is a change, of which the worker hears.
local function wait_until(member, at, score)
  local until_ms = math.floor(math.min(math.max(at, 0), now_ms + WAIT_MS_MAX))
  write('ZADD', key.pushes, decimal(until_ms == score and score + 1 or until_ms), member)
  again = again + 1
end
-- Ids of devices, as many as there may be.
local function ids_of(list)
  local ids = array()
  for _, id in ipairs(type(list) == 'table' and list or {}) do
    if is_id(id) and #ids < DEVICES_MAX then ids[#ids + 1] = id end
  end
  return ids
end
for _, result in ipairs(type(answer.results) == 'table' and answer.results or {}) do
  local member = type(result) == 'table' and result.p
  local score = called[member] and number(read('ZSCORE', key.pushes, member))
  if score then
    called[member] = nil
    if score ~= result.s then
      -- Another time is a change, so that the refresh looks here again.
      write('ZADD', key.pushes, decimal(math.floor(score) + 1), member)
      write('HDEL', key.tries, member)
      again = again + 1
    elseif type(result.at) == 'number' and result.at == result.at then
      wait_until(member, result.at, score)
      if type(result.tries) == 'number' then
        write('HSET', key.tries, member, encode({n = result.tries, d = ids_of(result.done)}))
        write('EXPIRE', key.tries, TRIES_TTL_S)
      end
    else
      write('ZREM', key.pushes, member)
      write('HDEL', key.tries, member)
      done = done + 1
    end
  end
end
-- What the answer does not name was not tried.
for _, member in ipairs(args.pushes) do
  local score = called[member] and number(read('ZSCORE', key.pushes, member))
  if score then wait_until(member, now_ms + AGAIN_MS, score) end
end
local version = type(answer.dead) == 'table' and next_version(key.version)
for _, one in ipairs(type(answer.dead) == 'table' and answer.dead or {}) do
  local id = type(one) == 'table' and one.device
  local device = is_id(id) and dead < DEAD_MAX and device_of(read('HGET', key.devices, id))
  -- A device that has registered since is not the one that was dead.
  if device and type(one['until']) == 'number' and device.at <= one['until'] then
    write('HDEL', key.devices, id)
    later('free_token', {tokenId = sha1(device.token), userId = args.userId, version = version})
    dead = dead + 1
  end
end
return {done = done, again = again, dead = dead}
