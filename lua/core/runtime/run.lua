-- Doing what a body has said: put after command.lua in front of every command and refresh script. `run` is the last
-- thing that such a script calls.

-- The plan of an event for `publishing`.
local function plan_of(item)
  local home = item.home
  return {
    log = home.log, meta = home.meta, seen = false, channel = home.channel, event = item.event, data = item.data,
    id = NO_ID, now_ms = ARGV[1], log_max = home.log_max, log_ttl_s = home.log_ttl_s, meta_ttl_s = home.meta_ttl_s,
    seen_ttl_s = '1', candidate = ARGV[5], run = ARGV[4], top = home.top, epoch = false, offset = false,
    lasts = false, trusted = true,
  }
end

local heavy -- logs to be cut to a bound in bytes, and that bound

-- The facts about the lane of the outbox: the payer, whether the payer's entries are counted, and whether the lane
-- holds any.
local payer, is_counted, is_waiting

-- Checks that the lane of the outbox has room for what was said, and the payer's part of it. Returns an error reply or
-- nil.
--
-- A payer's entries are counted beside the lane. In a lane without entries the counts say nothing, so errors in them
-- end there.
local function prepare_outgoing()
  local lane_max, payer_max
  lane_max, payer_max, payer = string.match(ARGV[10], '^(%d+) (%d+) (.*)$')
  if not payer then return refuse('BADARG', 'the bounds of the outbox and the payer are not three words') end
  local waiting = redis.pcall('XLEN', KEYS[1])
  if failed(waiting) then return bad_key('outbox', waiting) end
  if waiting + #outgoing > tonumber(lane_max) then
    return refuse('FAIL', 'unavailable the outbox is full: is a worker running?')
  end
  is_counted, is_waiting = payer_max ~= '0', waiting > 0
  if not is_counted or not is_waiting then return end
  local owed = redis.pcall('HGET', KEYS[1] .. ':payers', payer)
  if failed(owed) then return bad_key('the counts of the outbox', owed) end
  if (tonumber(owed or '0') or 0) + #outgoing > tonumber(payer_max) then
    return refuse('FAIL', 'unavailable too much of what this caller has caused still waits')
  end
end

-- Reads and checks everything about the events: the first of each topic is prepared. Returns an error reply or nil.
--
-- An event that goes on in its topic's epoch gets its epoch and `offset` (text) here. All others are
-- published in full. `last` of a home is the latest event that was prepared for it, or its plan.
local function prepare_events()
  for index = 1, #emitted do
    local item = emitted[index]
    local home, data = item.home, item.data
    if not (is_event(item.event) and string.byte(data) == 123 and string.byte(data, -1) == 125) then
      return refuse('BADARG', 'an event without a name of 1...64 bytes, or data that is not a JSON object')
    end
    if string.byte(home.log_max, -1) == 98 then home.log_max, home.log_bytes = cut_log(home.log_max) end
    if home.log_bytes and (#data + #item.event) * home.log_max * 2 > home.log_bytes then
      heavy = heavy or {}
      heavy[home.log] = home.log_bytes
    end
    local last, epoch, offset, more, ends = home.last, nil, nil, nil, nil
    if last and last.home then
      -- Behind another event of this run.
      epoch, offset, item.lasts = last.epoch, tonumber(last.offset), true
    elseif not last and home.log_max ~= '0' then
      -- A right may be lost at any time, and what was written could not be taken back.
      local may = redis.acl_check_cmd
      if may and not may(SEND, home.channel, '') then
        return refuse('NOPERM', 'the Redis user may not send on the channel of a topic')
      end
      epoch, offset, more, ends = read_position(home.meta, ARGV[4], home.top)
      if not epoch and offset then return offset end
      item.lasts = epoch and is_lasting(ends, ARGV[1], home.log_ttl_s)
    end
    if epoch and offset > 0 and offset < INTEGER_MAX and not more then
      item.epoch, item.offset, home.last = epoch, string.format('%d', offset + 1), item
    elseif not last then
      local _, _, _, _, _, prepare_event = publishing()
      local plan, wrong = prepare_event(plan_of(item))
      if not plan then return wrong end
      emitted[index], home.last = plan, plan
    end
  end
  if #outgoing > 0 then return prepare_outgoing() end
end

-- Puts entries into the outbox and wakes the worker: there are many streams, and one channel for all of them.
local function commit_outgoing()
  local stream, call, prefix = KEYS[1], redis.call, ARGV[9]
  local steps = outgoing.steps
  local ids = steps and {}
  for index = 1, #outgoing do
    local id = call('XADD', stream, '*', 'p', payer, unpack(outgoing[index]))
    if ids then ids[index] = id end
  end
  if is_counted then
    if not is_waiting then call('DEL', stream .. ':payers') end
    call('HINCRBY', stream .. ':payers', payer, #outgoing)
  end
  for index = 1, steps and #steps or 0 do table.insert(steps[index], 1, ids[steps[index].place]) end
  -- Steps are for the gateway, and for the worker only if the gateway is lost.
  if steps and ARGV[3] ~= 'worker' and #steps == #outgoing then return end
  -- Without a right to it the worker finds the entries by itself, a moment later.
  redis.pcall('PUBLISH', string.byte(prefix, -1) == 123 and prefix .. 'sb}#outbox' or prefix .. '#outbox', stream)
end

-- Makes the writes, logs and publishes the events, fills the outbox. Only the first write can be refused (memory,
-- read-only, persistence), and then nothing has changed. Returns an error reply or nil.
local function commit()
  local count, call = #queued, redis.call
  if count > 0 then
    local first = redis.pcall(unpack(queued[1]))
    if failed(first) then return first end
  end
  for index = 2, count do call(unpack(queued[index])) end
  for index = 1, #emitted do
    local item = emitted[index]
    local home = item.home
    local added = item.offset and home and not home.missed
      and log_event(home.log, item.lasts, home.log_max, item.offset, item.event, item.data, NO_ID, ARGV[1])
    if type(added) == 'string' then
      keep_offset(home.meta, home.log, item.offset, item.lasts, ARGV[1], home.log_ttl_s, home.meta_ttl_s)
      call(SEND, home.channel, inline.message(item.epoch, item.offset, item.event, '-', item.data))
    else
      -- What was prepared for the topic counts no longer.
      if home then home.missed = true end
      local publish_event, commit_event = publishing()
      local done, wrong
      if home then done, wrong = publish_event(plan_of(item)) else done, wrong = commit_event(item) end
      if not done then return wrong end
    end
  end
  if heavy then
    for log, bytes in pairs(heavy) do cut_log(log, bytes) end
  end
  if #outgoing > 0 then commit_outgoing() end
  local wrong = outward and outward.commit(count + #emitted + #outgoing == 0)
  if wrong then return wrong end
  -- These are told at most once, so one that Redis refuses is no reason to stop.
  for index = 1, told and #told or 0, 2 do redis.pcall(SEND, told[index], told[index + 1]) end
end

-- The answer of an operation that was done before, or an error reply; nil when it is new.
local function retried(fingerprint)
  local done = redis.pcall('GET', KEYS[2])
  if failed(done) then return bad_key('done', done) end
  if not done then return nil end
  if string.sub(done, 1, #fingerprint + 1) ~= fingerprint .. ' ' then
    return refuse('FAIL', 'conflict this id was used for another request')
  end
  local answer = string.sub(done, #fingerprint + 2)
  if string.byte(answer) == 123 then return {answer, 1} end
  -- The token that was made then: the same words before the answer.
  local words, rest = string.match(answer, '^([^\n]*)\n(.*)$')
  return {rest, 1, 0, words}
end

-- @only check_fence
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
-- @end

-- Calls a body. Returns its result, or nil and the reply that tells why there is none.
local function result_of(body)
  key, args = setmetatable(key or {}, UNDECLARED), setmetatable(args or {}, UNDECLARED)
  local ok, result = pcall(body)
  if ok then return result end
  if type(result) == 'table' and result.code then
    return nil, refuse('FAIL', result.code .. ' ' .. tostring(result.message))
  end
  if type(result) == 'table' and result.reply then return nil, result.reply end
  return nil, refuse('FAULT', type(result) == 'table' and tostring(result.err) or tostring(result))
end

-- JSON text of what a body returned, or nil and an error reply.
local function text_of(result)
  if type(result) ~= 'table' or getmetatable(result) == ARRAY then
    return nil, refuse('FAULT', 'the body must return a table with names, not ' .. type(result))
  end
  values = 0
  local written, answer = pcall(encode, result)
  if not written then return nil, refuse('FAULT', tostring(answer)) end
  if #answer > ANSWER_BYTES_MAX then return nil, refuse('FAULT', 'an answer of more than 1 MiB') end
  if spliced and (string.byte(answer) ~= 123 or not decode(answer)) then
    return nil, refuse('FAULT', 'an answer that is no JSON object, by a text put in as raw')
  end
  return answer
end

-- @only decide
-- Runs the body of a @subscribe script: whether the caller may join, and the state that it is told. Returns an error
-- reply or nil. What follows in the script tells the state.
local function decide(body)
  if not now_ms then return refuse('BADARG', 'now_ms is not a number in range') end
  local result, wrong = result_of(body)
  if wrong then return wrong end
  if result == nil then return end
  local text
  text, wrong = text_of(result)
  if not text then return wrong end
  state = function() return text end
end
-- @end

-- Runs a body and does what it said.
local function run(body)
  if not now_ms then return refuse('BADARG', 'now_ms is not a number in range') end
  local fingerprint = ARGV[6]
  if fingerprint ~= '' then
    local known = retried(fingerprint)
    if known then return known end
  end
  for index = 1, resolved and #resolved or 0 do
    local found, value = resolved[index], nil
    if found.field then
      value = redis.pcall('HGET', found.key, found.field)
    else
      value = redis.pcall('GET', found.key)
    end
    if failed(value) then return bad_key('a resolved key', value) end
    if (value or found.instead) ~= found.value then return refuse('STALE', 'a resolved value is another by now') end
  end
  if elsewhere and elsewhere.is_late and elsewhere.is_late() then
    return refuse('STALE', 'the keys of another id have been looked at since')
  end
  local result, wrong = result_of(body)
  -- Without all answers of other masters no result counts.
  if elsewhere and #elsewhere.asked > 0 then return {'', 2, elsewhere.asked} end
  if wrong then return wrong end
  wrong = check_lease and check_lease()
  if wrong then return wrong end
  local answer
  answer, wrong = text_of(result == nil and {} or result)
  if not answer then return wrong end
  if minted and result and result.token ~= nil then
    return refuse('FAULT', 'an answer with a member token, which is the gateway\'s to make')
  end
  if fingerprint ~= '' then
    local memory = minted and minted .. '\n' .. answer or answer
    queued[#queued + 1] = {'SET', KEYS[2], fingerprint .. ' ' .. memory, 'EX', ARGV[7]}
    needs[#queued] = ''
  end
  wrong = check_writes() or prepare_events() or outward and outward.prepare() or commit()
  if wrong then return wrong end
  local price = effects + surcharge
  -- Few bytes are paid with the arguments.
  if told_bytes > 1023 or is_marked then price = price .. ':' .. told_bytes .. (is_marked and ':1' or '') end
  if outgoing.steps and ARGV[3] ~= 'worker' then
    return {answer, 0, price, minted or '', told_elsewhere or {}, outgoing.steps}
  end
  if told_elsewhere then return {answer, 0, price, minted or '', told_elsewhere} end
  if minted then return {answer, 0, price, minted} end
  -- A table costs Redis more to answer with.
  return price .. ' ' .. answer
end
