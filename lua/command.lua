-- The command prelude: put after prelude.lua and writes.lua in front of every command and refresh script
-- (lua/README.md).
--
-- Loaded text = prelude.lua, writes.lua, this file, the generated names of the script's header, then
-- `local function command() ... parts, body ... end return run(command)`. The first line of that function hides from
-- bodies what they have no business with.
--
-- The body decides: it reads, checks, computes its answer, and says what is to happen by `write`, `emit` and `later`.
-- `run` does: only when the body has returned and everything was checked are the writes made, the events logged and
-- published, and the answer remembered for a retry. Whatever fails before that has changed nothing.

local ANSWER_BYTES_MAX = 1048576 -- one answer; the gateway would not pass on more
local ANSWER_VALUES_MAX = 10000  -- values in an answer or in the data of an event; nobody would read more
local EFFECTS_MAX = 1000         -- events and calls of one run
local EFFECT_BYTES_MAX = 1048576 -- their data together

-- From the header, by the generated part.
local homes, foreign, callable = {}, {}, {}
local fence

local now_ms = integer(ARGV[1], 0, INTEGER_MAX)
local caller = {user = ARGV[2] ~= '' and ARGV[2] or nil, role = ARGV[3]}

-- What else the body wants done.
local emitted, outgoing, told = {}, {}, {}
local effect_bytes = 0
local spliced = false -- whether the body put text into an answer that nobody has checked

-- Whether the n-th declared argument was given.
local function given(n)
  return string.sub(ARGV[12], n, n) == '1'
end

-- A list of ids, which hold no space.
local function words(text)
  local list = {}
  for word in string.gmatch(text, '[^ ]+') do list[#list + 1] = word end
  return list
end

-- Ends the script: `code` is one of the header's @errors or bad_request. Nothing has changed.
local function fail(code, message)
  error({code = code, message = message}, 0)
end

-- ---------------------------------------------------------------------------------------------------------------
-- Values and JSON

local null = cjson.null

-- A table that is written as a JSON array, also when it is empty.
local ARRAY = {}
local function array(list)
  return setmetatable(list or {}, ARRAY)
end

-- JSON text that is written as it is.
local RAW = {}
local function raw(text)
  spliced = true
  return setmetatable({text = text}, RAW)
end

-- The shortest decimal text that reads back as the same number; nil for what is no number.
local function shortest(value)
  if value ~= value or value == math.huge or value == -math.huge then return nil end
  if value == math.floor(value) and value <= INTEGER_MAX and value >= -INTEGER_MAX then
    return value == 0 and '0' or string.format('%.0f', value)
  end
  for digits = 15, 17 do
    local text = string.format('%.' .. digits .. 'g', value)
    if tonumber(text) == value then return text end
  end
end

-- Whether the text is UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing beyond U+10FFFF.
local function is_utf8(text)
  if not string.find(text, '[\128-\255]') then return true end
  local place, count = 1, #text
  while place <= count do
    local first = string.byte(text, place)
    local more, low, high = 0, 128, 191
    if first < 128 then more = 0
    elseif first >= 194 and first <= 223 then more = 1
    elseif first >= 224 and first <= 239 then
      more = 2
      if first == 224 then low = 160 elseif first == 237 then high = 159 end
    elseif first >= 240 and first <= 244 then
      more = 3
      if first == 240 then low = 144 elseif first == 244 then high = 143 end
    else return false end
    for step = 1, more do
      local byte = string.byte(text, place + step)
      if not byte or byte < low or byte > high then return false end
      low, high = 128, 191
    end
    place = place + 1 + more
  end
  return true
end

-- A JSON string. Bytes that others wrote into Redis and that are not UTF-8 are told as "?": no client may get them.
local function json_string(text)
  if not is_utf8(text) then text = string.gsub(text, '[\128-\255]', '?') end
  return cjson.encode(text)
end

local encode
local values = 0 -- written since it was set to 0

local function encode_table(value, depth)
  local parts = {}
  if getmetatable(value) == ARRAY then
    for index = 1, #value do parts[index] = encode(value[index], depth + 1) end
    return '[' .. table.concat(parts, ',') .. ']'
  end
  for name, member in pairs(value) do
    parts[#parts + 1] = json_string(tostring(name)) .. ':' .. encode(member, depth + 1)
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

-- JSON text of a value: integers stay integers, other numbers keep every digit, `array` and `raw` are respected.
function encode(value, depth)
  depth = depth or 0
  values = values + 1
  if values > ANSWER_VALUES_MAX then error('more than ' .. ANSWER_VALUES_MAX .. ' values in one JSON text', 0) end
  local kind = type(value)
  if kind == 'string' then return json_string(value) end
  if kind == 'number' then return shortest(value) or error('a number that JSON has no text for', 0) end
  if kind == 'boolean' then return value and 'true' or 'false' end
  if kind == 'table' then
    if getmetatable(value) == RAW then return value.text end
    if depth > 30 then error('an answer nested too deeply', 0) end
    return encode_table(value, depth)
  end
  if value == null or value == nil then return 'null' end
  error('a value that JSON has no text for', 0)
end

-- The value of a JSON text, nil when it is none.
local function decode(text)
  if type(text) ~= 'string' then return nil end
  local ok, value = pcall(cjson.decode, text)
  if ok then return value end
  return nil
end

-- JSON text of an object that somebody stored, ready to be spliced; nil for anything else. cjson alone also takes
-- nan, hex, `1.`, raw control characters and bytes that are not UTF-8, and one such text would spoil a whole answer.
local LITERALS = {['true'] = true, ['false'] = true, null = true}
local function stored_object(text)
  if type(text) ~= 'string' or not string.find(text, '^{.*}$') or not is_utf8(text) then return nil end
  if type(decode(text)) ~= 'table' then return nil end
  local plain = string.gsub(text, '\\.', '')
  for inside in string.gmatch(plain, '"([^"]*)"') do
    if string.find(inside, '[%z\1-\31]') then return nil end
  end
  for word in string.gmatch(string.gsub(plain, '"[^"]*"', ' '), '[^%s{}%[%]:,]+') do
    if not LITERALS[word] and (not string.find(word, '^%-?[0-9][0-9.eE+-]*$') or string.find(word, '^%-?0[0-9]')
      or string.find(word, '%.[^0-9]') or string.sub(word, -1) == '.') then return nil end
  end
  return setmetatable({text = text}, RAW)
end

-- SHA-1 of a text, as 40 hex digits.
local function sha1(text)
  return redis.sha1hex(text)
end

-- ISO 8601 in UTC with milliseconds; the days are counted by the civil calendar from 1 March of year 0.
local function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local shifted = days + 719468
  local era = math.floor(shifted / 146097)
  local day = shifted - era * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  local of_year = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local shifted_month = math.floor((5 * of_year + 2) / 153)
  local month = shifted_month < 10 and shifted_month + 3 or shifted_month - 9
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year + era * 400 + (month <= 2 and 1 or 0), month,
    of_year - math.floor((153 * shifted_month + 2) / 5) + 1, math.floor(rest / 3600000), math.floor(rest / 60000) % 60,
    math.floor(rest / 1000) % 60, rest % 1000)
end

-- ---------------------------------------------------------------------------------------------------------------
-- What a body says

-- JSON text of an event's or a call's data: a table, or text as it is.
local function object(value)
  values = 0
  if type(value) == 'table' then return encode(value) end
  if type(value) == 'string' and string.sub(value, 1, 1) == '{' and string.sub(value, -1) == '}' then return value end
  error('data must be a table or the text of a JSON object', 0)
end

-- Counts an event or a call with its data.
local function count_effect(data)
  effect_bytes = effect_bytes + #data
  if readonly then error('a script whose header says @readonly emits and calls nothing', 3) end
  if #emitted + #outgoing + #told / 2 >= EFFECTS_MAX then
    error('more than ' .. EFFECTS_MAX .. ' events and calls in one run', 3)
  end
  if effect_bytes > EFFECT_BYTES_MAX then error('more than 1 MiB of data in the events and calls of one run', 3) end
end

-- Emits an event on a topic of the header: on one of the script's own slot in this script, on another by the outbox.
local function emit(topic, event, data)
  data = object(data)
  count_effect(data)
  if type(topic) ~= 'string' then error('emit: the topic is ' .. type(topic) .. ', not text', 2) end
  local home = homes[topic]
  if home then
    emitted[#emitted + 1] = {home = home, event = event, data = data}
    return
  end
  local namespace = string.match(topic, '^([a-z][a-z0-9-]*):[A-Za-z0-9._~:-]+$')
  if not (namespace and foreign[namespace]) then error('emits on ' .. topic .. ', which no @topic names', 2) end
  if not is_event(event) then error('an event without a name of 1...64 bytes', 2) end
  outgoing[#outgoing + 1] = {'t', topic, 'e', event, 'd', data}
end

-- Tells an event to who listens at this moment: no position, no log, no outbox, so nothing of it is kept anywhere.
local function tell_now(topic, event, data)
  data = object(data)
  count_effect(data)
  if type(topic) ~= 'string' then error('tell_now: the topic is ' .. type(topic) .. ', not text', 2) end
  if not homes[topic] then
    local colon = string.find(topic, ':', 1, true) or 1
    if not (foreign[string.sub(topic, 1, colon - 1)] and string.find(topic, '^[%w._~:-]+$', colon + 1)) then
      error('tells on ' .. topic .. ', which no @topic names', 2)
    end
  end
  if not is_event(event) then error('an event without a name of 1...64 bytes', 2) end
  told[#told + 1] = ARGV[9] .. topic
  told[#told + 1] = '{"event":"' .. event .. '","data":' .. data .. '}'
end

-- Calls another command afterwards, as the worker, at least once and with the effect of once.
local function later(name, arguments)
  if not callable[name] then error('calls ' .. tostring(name) .. ', which no @calls names', 2) end
  arguments = object(arguments)
  count_effect(arguments)
  outgoing[#outgoing + 1] = {'c', name, 'a', arguments}
end

-- ---------------------------------------------------------------------------------------------------------------
-- Doing it

-- Reads and checks everything about the events: the first of each topic is prepared. Returns an error reply or nil.
local function prepare_events()
  for index, item in ipairs(emitted) do
    local home = item.home
    local plan = {
      log = home.log, meta = home.meta, seen = false, channel = home.channel, event = item.event, data = item.data,
      id = NO_ID, now_ms = ARGV[1], log_max = home.log_max, log_ttl_s = home.log_ttl_s, meta_ttl_s = home.meta_ttl_s,
      seen_ttl_s = '1', candidate = ARGV[5], run = ARGV[4], top = home.top, epoch = false, offset = false,
    }
    emitted[index] = plan
    if home.prepared then
      local wrong = check_event(plan.channel, plan.event, plan.data, NO_ID)
      if wrong then return wrong end
    else
      local prepared, wrong = prepare_event(plan)
      if not prepared then return wrong end
      home.prepared = true
    end
  end
  if #outgoing == 0 then return end
  local waiting = redis.pcall('XLEN', KEYS[1])
  if failed(waiting) then return bad_key('outbox', waiting) end
  if waiting + #outgoing > tonumber(ARGV[10]) then
    return refuse('FAIL', 'unavailable the outbox is full: is a worker running?')
  end
end

-- Makes the writes, logs and publishes the events, fills the outbox. Only the first write can be refused (memory,
-- read-only, persistence), and then nothing has changed. Returns an error reply or nil.
local function commit()
  for index, entry in ipairs(queued) do
    local reply = index == 1 and redis.pcall(unpack(entry)) or redis.call(unpack(entry))
    if index == 1 and failed(reply) then return reply end
  end
  for _, plan in ipairs(emitted) do
    local done, wrong = (plan.epoch and commit_event or publish_event)(plan)
    if not done then return wrong end
  end
  for _, entry in ipairs(outgoing) do redis.call('XADD', KEYS[1], '*', unpack(entry)) end
  if #outgoing > 0 then redis.call('PUBLISH', KEYS[1], '') end
  -- These are told at most once, so one that Redis refuses is no reason to stop.
  for index = 1, #told, 2 do redis.pcall('PUBLISH', told[index], told[index + 1]) end
end

-- The answer of an operation that was done before, or an error reply; nil when it is new.
local function retried(fingerprint)
  local done = redis.pcall('GET', KEYS[2])
  if failed(done) then return bad_key('done', done) end
  if not done then return nil end
  if string.sub(done, 1, #fingerprint + 1) ~= fingerprint .. ' ' then
    return refuse('FAIL', 'conflict this id was used for another request')
  end
  return {string.sub(done, #fingerprint + 2), 1}
end

-- A refresh runs under a lease; whoever held it before may still be about to write. The token of the last run is
-- kept beside the data: an older one is refused. Returns an error reply or nil.
local function check_fence()
  local token = integer(ARGV[11], 0, INTEGER_MAX)
  if not token then return refuse('BADARG', 'the fence token is not a number') end
  local last = redis.pcall('GET', fence)
  if failed(last) then return bad_key('fence', last) end
  last = integer(last, 0, INTEGER_MAX) or -1
  if token < last then return refuse('FENCED', 'another worker has this since') end
  if token > last then
    queued[#queued + 1] = {'SET', fence, ARGV[11], 'EX', '86400'}
    needs[#queued] = ''
  end
end

-- Runs a body and does what it said.
local function run(body)
  if not now_ms then return refuse('BADARG', 'now_ms is not a number in range') end
  local fingerprint = ARGV[6]
  if fingerprint ~= '' then
    local known = retried(fingerprint)
    if known then return known end
  end
  setmetatable(key, UNDECLARED)
  setmetatable(args, UNDECLARED)
  local ok, result = pcall(body)
  if not ok then
    if type(result) == 'table' and result.code then
      return refuse('FAIL', result.code .. ' ' .. tostring(result.message))
    end
    if type(result) == 'table' and result.reply then return result.reply end
    return refuse('FAULT', type(result) == 'table' and tostring(result.err) or tostring(result))
  end
  local wrong = fence and check_fence()
  if wrong then return wrong end
  if result == nil then result = {} end
  if type(result) ~= 'table' or getmetatable(result) == ARRAY then
    return refuse('FAULT', 'the body must return a table with names, not ' .. type(result))
  end
  values = 0
  local written, answer = pcall(encode, result)
  if not written then return refuse('FAULT', tostring(answer)) end
  if #answer > ANSWER_BYTES_MAX then return refuse('FAULT', 'an answer of more than 1 MiB') end
  if spliced and (string.byte(answer) ~= 123 or not decode(answer)) then
    return refuse('FAULT', 'an answer that is no JSON object, by a text put in as raw')
  end
  if fingerprint ~= '' then
    queued[#queued + 1] = {'SET', KEYS[2], fingerprint .. ' ' .. answer, 'EX', ARGV[7]}
    needs[#queued] = ''
  end
  wrong = check_writes() or prepare_events() or commit()
  if wrong then return wrong end
  return {answer, 0, #emitted + #outgoing + #told / 2}
end
