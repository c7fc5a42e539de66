-- Calls of services outside: put after command.lua in front of commands whose headers say @call_out.
--
-- A call waits in a stream of its service until a courier takes it (docs/courier.md). It is put there in the same step
-- as the script's writes, or not at all.

local CALL_BYTES_MAX = 16384 -- the request of one call, with the arguments for its answer
local CALLS_MAX = 16         -- calls of one run

local services, calls_max -- from the header and the settings, by the generated part
local called = {}

-- JSON text of an object that couriers in any language can read.
local function strict_object(value, what)
  local text = object_text(value)
  if not stored_object(text) then error('call_out: the ' .. what .. ' is no JSON object', 3) end
  return text
end

-- Has a service outside called afterwards. Its answer calls `command` with `arguments`, `outcome` and `answer`.
--
-- The call's id follows from the name of the operation, so a retry of what was remembered is no second call, and
-- whoever is called can tell a repetition.
local function call_out(service, request, command, arguments)
  local known = services[service]
  if not (known and known.commands[command]) then
    error('calls out to ' .. tostring(service) .. ' for ' .. tostring(command) .. ', which no @call_out names', 2)
  end
  if #called == CALLS_MAX then error('more than ' .. CALLS_MAX .. ' calls of services outside in one run', 2) end
  local text, more = strict_object(request, 'request'), strict_object(arguments or {}, 'list of arguments')
  count_effects(1, #text + #more)
  if #text + #more > CALL_BYTES_MAX then
    fail('too_large', 'a call of ' .. service .. ' may have ' .. CALL_BYTES_MAX .. ' bytes')
  end
  local operation = ARGV[6] ~= '' and KEYS[2] .. ' ' .. ARGV[6] or ARGV[5]
  local id = string.sub(sha1(operation .. ' ' .. #called), 1, 32)
  called[#called + 1] = {
    'XADD', known.stream, '*', 'i', id, 'r', text, 'c', command, 'a', more,
    'p', string.match(ARGV[10], '^%d+ %d+ (.*)$') or '',
  }
  if known.stream ~= KEYS[1] then
    known.waiting = known.waiting + 1
    return
  end
  -- The calls are another slot's: the worker puts them there.
  outgoing[#outgoing + 1] = {'o', service, 'i', id, 'r', text, 'c', command, 'a', more}
  called[#called] = false
end

-- How many calls of a service still fit among those that wait: a script that can wait itself asks before it calls.
local function call_room(service)
  local known = services[service]
  if not known then error('asks for room at ' .. tostring(service) .. ', which no @call_out names', 2) end
  local waiting = redis.pcall('XLEN', known.stream)
  if failed(waiting) then error({reply = bad_key('calls', waiting)}, 0) end
  return math.max(calls_max - waiting - known.waiting, 0)
end

-- Whether a courier of a service has ever joined: a script that only wishes for an answer asks before it calls. Where
-- keys have slots, the calls are another slot's, and nobody knows.
local function courier_joined(service)
  local known = services[service]
  if not known then error('asks for a courier of ' .. tostring(service) .. ', which no @call_out names', 2) end
  return known.stream == KEYS[1] or redis.call('EXISTS', known.stream) == 1
end

outward = {
  -- Checks that there is room. Returns an error reply or nil.
  prepare = function()
    for name, service in pairs(services) do
      local waiting = service.waiting > 0 and redis.pcall('XLEN', service.stream) or 0
      if failed(waiting) then return bad_key('calls', waiting) end
      if service.waiting > 0 and waiting + service.waiting > calls_max then
        return refuse('FAIL', 'unavailable too many calls of ' .. name .. ' wait: is a courier running?')
      end
    end
  end,
  -- Puts the calls into their streams. Returns an error reply or nil; only a script's first write can be refused.
  commit = function(is_first)
    for index, entry in ipairs(called) do
      local reply = entry and (is_first and index == 1 and redis.pcall(unpack(entry)) or redis.call(unpack(entry)))
      if is_first and index == 1 and failed(reply) then return reply end
    end
  end,
}
