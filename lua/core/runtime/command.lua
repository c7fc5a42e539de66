-- The command prelude: put after prelude.lua, writes.lua, checks.lua, values.lua in front of every command and refresh
-- (docs/scripts/body.md).
--
-- Loaded text = prelude.lua, writes.lua, checks.lua, values.lua, this file, run.lua, the generated names of the header,
-- then `local function command() ... parts, body ... end return run(command)`. The first line of that function hides
-- from bodies what they have no business with.
--
-- The body decides: it reads, checks, computes its answer, and says what is to happen by `write`, `emit` and `later`.
-- `run` (run.lua) does: only when the body has returned and everything was checked are the writes made, the events
-- logged and published, and the answer remembered for a retry. Whatever fails before that has changed nothing.

local ANSWER_BYTES_MAX = 1048576 -- one answer; the gateway would not pass on more
local EFFECTS_MAX = 1000         -- events, calls and changes of members of one run
local CALL_PRICE = 6             -- publishes that one call costs its caller: what is called takes Redis time, too
local EFFECT_BYTES_MAX = 1048576 -- their data together
local EACH_BYTES_MAX = 16777216  -- the data of one call for many topics, as their logs keep them

-- From the header, by the generated part.
local none = {}
local homes, foreign, callable = none, none, none
local resolved -- what the gateway found by keys of other ids: key, field and value
-- Of a refresh: the key beside the data, and what checks the lease by it.
local fence, check_lease
local mint_s -- how long the header's token lasts
local made_ids = none -- the UUIDs that the gateway has made for this call
local roster -- with @members: the key of removals, and how many members a topic may have

local now_ms = integer(ARGV[1], 0, INTEGER_MAX)

-- @only caller
-- The caller as bodies know it: `guest` is a user whose token says that it is nobody's account. Behind the role stands
-- the name that the token tells.
local function known_as(user, role)
  local name
  if string.find(role, ' ', 1, true) then role, name = string.match(role, '^(%a+).- (.*)$') end
  local guest = role == 'guest'
  return {user = user ~= '' and user or nil, role = guest and 'user' or role, guest = guest, name = name}
end
local caller = known_as(ARGV[2], ARGV[3])
-- @end

-- What else the body wants done.
-- On a Cluster `outgoing.steps` is what is done at other ids before the caller is answered. It is no local of its own,
-- since each one makes the functions of every call dearer.
local emitted, outgoing, told = {nil}, {}, nil
local told_elsewhere -- on a Cluster: what the gateway tells topics of other slots
local effects, effect_bytes = 0, 0
local surcharge = 0 -- what calls cost beyond their number
local told_bytes = 0 -- bytes of events, their names and calls, as often as they are kept
local is_marked = false -- whether the call is one that a rate counts which says `marked`
local outward -- with @call_out: `prepare` and `commit` of outside.lua
local minted -- what the gateway signs: subject, 1 for a guest, iat, exp, id

-- @only given
-- Whether the n-th declared argument was given.
local function given(n)
  return string.sub(ARGV[12], n, n) == '1'
end
-- @end

-- @only ids_of
-- A list of ids, which hold no space.
local function ids_of(text)
  local list = {}
  for word in string.gmatch(text, '[^ ]+') do list[#list + 1] = word end
  return list
end
-- @end

-- Ends the script: `code` is one of the header's @errors or bad_request. Nothing has changed.
local function fail(code, message)
  error({code = code, message = message}, 0)
end

-- ---------------------------------------------------------------------------------------------------------------
-- What a body says

-- @only object_text
-- JSON text of an event's or a call's data: a table, or text as it is.
local function object_text(value)
  values = 0
  local kind = type(value)
  if kind == 'table' then return encode(value) end
  if kind == 'string' and string.byte(value) == 123 and string.byte(value, -1) == 125 then return value end
  error('data must be a table or the text of a JSON object', 0)
end
-- @end

-- @only count_effects
-- Counts events or calls, and the bytes of their data; `event` is the events' name, of which the logs keep a copy each.
local function count_effects(count, bytes, event)
  effects, effect_bytes = effects + count, effect_bytes + bytes
  told_bytes = told_bytes + bytes * math.max(count, 1) + (type(event) == 'string' and #event * count or 0)
  if readonly then error('a script whose header says @readonly emits and calls nothing', 3) end
  if effects > EFFECTS_MAX then error('more than ' .. EFFECTS_MAX .. ' events and calls in one run', 3) end
  if effect_bytes > EFFECT_BYTES_MAX then error('more than 1 MiB of data in the events and calls of one run', 3) end
end
-- @end

-- @only home_of
-- The home of a topic of the header; nil for a foreign one. Any other topic is an error.
local function home_of(topic)
  if type(topic) ~= 'string' then error('the topic is ' .. type(topic) .. ', not text', 3) end
  if homes[topic] then return homes[topic] end
  local namespace = string.match(topic, '^([a-z][a-z0-9-]*):[A-Za-z0-9._~:-]+$')
  if not (namespace and foreign[namespace]) then error('emits on ' .. topic .. ', which no @topic names', 3) end
end
-- @end

-- @only emit
-- Emits an event on a topic of the header: on one of the script's own slot in this script, on another by the outbox.
local function emit(topic, event, data)
  data = object_text(data)
  count_effects(1, #data, event)
  local home = topic and homes[topic] or home_of(topic)
  if home then
    emitted[#emitted + 1] = {home = home, event = event, data = data, epoch = false, offset = false, lasts = false}
    return
  end
  if not is_event(event) then error('an event without a name of 1...64 bytes', 2) end
  outgoing[#outgoing + 1] = {'t', topic, 'e', event, 'd', data}
end
-- @end

-- @only tell_now
-- Tells an event to who listens at this moment: no position, no log, no outbox, so nothing of it is kept anywhere.
local function tell_now(topic, event, data)
  data = object_text(data)
  count_effects(1, #data, event)
  if type(topic) ~= 'string' then error('tell_now: the topic is ' .. type(topic) .. ', not text', 2) end
  if not homes[topic] then
    local colon = string.find(topic, ':', 1, true) or 1
    if not (foreign[string.sub(topic, 1, colon - 1)] and string.find(topic, '^[%w._~:-]+$', colon + 1)) then
      error('tells on ' .. topic .. ', which no @topic names', 2)
    end
  end
  if not is_event(event) then error('an event without a name of 1...64 bytes', 2) end
  local list
  if SEND ~= 'PUBLISH' and not homes[topic] then
    told_elsewhere = told_elsewhere or {}
    list = told_elsewhere
  else
    told = told or {}
    list = told
  end
  list[#list + 1] = name_of(topic)
  list[#list + 1] = '{"event":"' .. event .. '","data":' .. data .. '}'
end
-- @end

-- @only emit_each
-- Emits an event on each of several topics: on home topics in this script, on all others by one entry of the outbox.
-- `data` is one object for all of them, or a list of as many objects.
local function emit_each(topics, event, data)
  if type(topics) ~= 'table' then error('emit_each: the topics are ' .. type(topics) .. ', not a list', 2) end
  local is_list = type(data) == 'table' and (getmetatable(data) == ARRAY or data[1] ~= nil)
  if is_list and #data ~= #topics then error('emit_each: ' .. #topics .. ' topics, ' .. #data .. ' objects', 2) end
  local shared = not is_list and object_text(data)
  count_effects(#topics, shared and #shared or 0, event)
  if not is_event(event) then error('an event without a name of 1...64 bytes', 2) end
  local names, texts, lengths, bytes = {}, {}, {}, 0
  for index, topic in ipairs(topics) do
    local text = shared or object_text(data[index])
    if not shared then count_effects(0, #text) end
    bytes = bytes + #text
    local home = home_of(topic)
    if home then
      emitted[#emitted + 1] = {home = home, event = event, data = text, epoch = false, offset = false, lasts = false}
    else
      local place = #names + 1
      names[place], texts[place], lengths[place] = topic, text, #text
    end
  end
  if bytes > EACH_BYTES_MAX then error('emit_each: more than 16 MiB of data in the logs of its topics', 2) end
  if #names == 0 then return end
  local entry = {'m', table.concat(names, ' '), 'e', event, 'd', shared or table.concat(texts)}
  -- What a script says is text may be more than one object; the lengths leave no doubt which is whose.
  if not shared then entry[7], entry[8] = 'l', table.concat(lengths, ' ') end
  outgoing[#outgoing + 1] = entry
end
-- @end

-- @only homes_apart
-- Whether the keys of other ids are out of this script's reach, as they are on a Redis Cluster.
local homes_apart = SEND ~= 'PUBLISH'
-- @end

-- @only later step
-- Calls another command afterwards, as the worker, at least once and with the effect of once.
local function later(name, arguments)
  if not callable[name] then error('calls ' .. tostring(name) .. ', which no @calls names', 2) end
  arguments = object_text(arguments)
  count_effects(1, #arguments)
  surcharge = surcharge + CALL_PRICE - 1
  outgoing[#outgoing + 1] = {'c', name, 'a', arguments}
end
-- @end

-- @only step
-- On a Redis Cluster: has the rest of a change made at another id, before the caller is answered. With `is_answer` the
-- body returns what `step` returns, and the caller gets the step's answer.
local function step(name, arguments, is_answer)
  if SEND == 'PUBLISH' then error('step: on one server a script reaches all of its keys', 2) end
  if is_answer and ARGV[6] ~= '' then error('step: only an @idempotent script answers by a step', 2) end
  later(name, arguments)
  local steps = outgoing.steps or {}
  outgoing.steps = steps
  steps[#steps + 1] = {place = #outgoing, name, outgoing[#outgoing][4], is_answer and '1' or '0'}
  if is_answer then return {} end
end
-- @end

-- @only charge
-- Adds to what the call costs its caller, in publishes: for what the change of a key makes others do.
local function charge(publishes)
  if type(publishes) ~= 'number' or publishes % 1 ~= 0 or publishes < 0 or publishes > EFFECTS_MAX then
    error('charge: not a whole number from 0 to ' .. EFFECTS_MAX, 2)
  end
  surcharge = surcharge + publishes
end
-- @end

-- @only counted
-- Says that the call is one of those that the rates of the header count which say `marked`. Ends the script by
-- `rate_limited` when one of them is used up.
local function counted(message)
  if string.byte(ARGV[12], -1) == 45 then fail('rate_limited', message) end
  is_marked = true
end
-- @end

-- @only admit expel
-- Notes that a user was taken out of a topic, so that every gateway looks at the sessions; set_member.lua does the
-- same, and says why the clock is Redis's own. Where the removals are another slot's, the worker notes it.
local function note_removal(topic, user)
  if roster.removed == KEYS[1] then
    outgoing[#outgoing + 1] = {'u', user, 't', topic, 'x', 'removed'}
    return
  end
  if not roster.place then
    local time = redis.call('TIME')
    local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    local last = redis.pcall('ZREVRANGE', roster.removed, 0, 0, 'WITHSCORES')
    if failed(last) then error({reply = bad_key('removed', last)}, 0) end
    roster.place = math.max(now, last[2] and tonumber(last[2]) + 1 or 0)
    for _, words in ipairs({{'ZREMRANGEBYSCORE', roster.removed, '-inf', decimal(now - 60000)},
      {'ZREMRANGEBYRANK', roster.removed, 0, -10001}}) do
      queued[#queued + 1] = words
      needs[#queued] = 'zset'
    end
  end
  queued[#queued + 1] = {'ZADD', roster.removed, decimal(roster.place), topic .. ' ' .. user}
  needs[#queued] = 'zset'
  queued[#queued + 1] = {'PEXPIRE', roster.removed, 120000}
  needs[#queued] = ''
  roster.place = roster.place + 1
end

-- Takes a user into the members of a topic of the header or out of them; of a foreign topic by the outbox.
local function change_member(word, topic, user)
  if not roster then error(word .. ': the header does not say @members', 3) end
  if not is_id(user) then error(word .. ': the user is not 1...128 of A-Z a-z 0-9 . _ ~ : -', 3) end
  count_effects(1, 0)
  local home = home_of(topic)
  if not home then
    outgoing[#outgoing + 1] = {'u', user, 't', topic, 'x', word == 'admit' and 'add' or 'remove'}
    return
  end
  local members = home.members
  if word == 'expel' then
    queued[#queued + 1] = {'SREM', members, user}
    needs[#queued] = 'set'
    return note_removal(topic, user)
  end
  local is_member = redis.pcall('SISMEMBER', members, user)
  if failed(is_member) then error({reply = bad_key('members', is_member)}, 0) end
  if is_member == 0 then
    home.size = (home.size or redis.call('SCARD', members)) + 1
    if home.size > roster.max then fail('too_large', 'a topic may have ' .. roster.max .. ' members') end
  end
  queued[#queued + 1] = {'SADD', members, user}
  needs[#queued] = 'set'
end

-- Takes a user into the members of a topic: who may join it where its namespace says `granted`.
local function admit(topic, user) change_member('admit', topic, user) end

-- Takes a user out of them: the user's sessions hear no more of the topic within two seconds.
local function expel(topic, user) change_member('expel', topic, user) end
-- @end

-- @only mint
-- Has the gateway sign a token for the topic of @mint, which the caller's answer has as `token`. It is the caller's, or
-- that of a new guest: `subject` is then 'guest', the digits of this call's randomness as a UUID, or what @derive has
-- made by uuid(). So no caller can choose whose token it is. Returns the subject.
local function mint(subject, claims)
  if not mint_s then error('mint: the header does not say @mint', 2) end
  if minted then error('mint: one token is made in one call', 2) end
  local digits = ARGV[8]
  if subject == 'guest' then subject = 'guest:' .. digits end
  if subject == nil then subject = caller.user end
  if not is_id(subject) then error('mint: there is no user to make a token for', 2) end
  local fresh = string.gsub(string.lower(subject), '-', '')
  local is_guest = fresh == digits or fresh == 'guest:' .. digits or made_ids[subject] == true
  if not is_guest and subject ~= caller.user then
    error("mint: the subject is nil for the caller, 'guest', this call's `random`, or a uuid() of it", 2)
  end
  local anonymous = is_guest or type(claims) == 'table' and claims.anonymous == true
  local now = math.floor(now_ms / 1000)
  minted = string.format('%s %d %.0f %.0f m-%s', subject, anonymous and 1 or 0, now, now + mint_s, digits)
  return subject
end
-- @end
