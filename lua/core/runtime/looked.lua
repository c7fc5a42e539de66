-- Reads of keys of another id on a Redis Cluster: put after run.lua in front of commands whose header says
-- `@span NAME reads NAME`.
--
-- These keys lie in another slot. The gateway has looked at all of them at once (look.lua) and hands over what they
-- held, so they may be others by now. A look that is older than one by which this id was changed before counts no
-- more: the run does nothing, and the gateway looks again.

do
  local KEPT_MS = 60000 -- how long the time of the last look is known; no call takes as long

  local asking = elsewhere
  local note = KEYS[#KEYS]
  local found = cmsgpack.unpack(ARGV[asking and #ARGV - 1 or #ARGV])
  local held = {}
  for place = 2, #found, 3 do held[found[place]] = {kind = found[place + 1], value = found[place + 2]} end

  -- The value of each name in a flat list of names and values.
  local function by_name(list)
    local values = {}
    for place = 1, #list, 2 do values[list[place]] = list[place + 1] end
    return values
  end

  local function as_set(list)
    local set = {}
    for _, member in ipairs(list) do set[member] = 1 end
    return set
  end

  -- One value for each of some names.
  local function each(names, values, absent)
    local list = {}
    for place, name in ipairs(names) do list[place] = values[tostring(name)] or absent end
    return list
  end

  local function some(list, count)
    count = tonumber(count)
    if not count then return list[1] or false end
    local first = {}
    for place = 1, math.min(count, #list) do first[place] = list[place] end
    return first
  end

  -- Each command with the type of its key, its answer where there is no key, and its answer.
  local COMMANDS = {
    GET = {'string', function() return false end, function(text) return text end},
    HGET = {'hash', function() return false end, function(list, field) return by_name(list)[field] or false end},
    HMGET = {'hash', function(...) return each({...}, {}, false) end,
      function(list, ...) return each({...}, by_name(list), false) end},
    HEXISTS = {'hash', function() return 0 end, function(list, field) return by_name(list)[field] and 1 or 0 end},
    HGETALL = {'hash', function() return {} end, function(list) return list end},
    SCARD = {'set', function() return 0 end, function(list) return #list end},
    SISMEMBER = {'set', function() return 0 end, function(list, member) return as_set(list)[member] or 0 end},
    SMISMEMBER = {'set', function(...) return each({...}, {}, 0) end,
      function(list, ...) return each({...}, as_set(list), 0) end},
    SMEMBERS = {'set', function() return {} end, function(list) return list end},
    SRANDMEMBER = {'set', function(count) return count and {} or false end, some},
    ZSCORE = {'zset', function() return false end, function(list, member) return by_name(list)[member] or false end},
  }

  local function count(names)
    local there = 0
    for _, name in ipairs(names) do
      if not held[name] then error('read: ' .. tostring(name) .. ' lies at an id that this script does not read', 4) end
      if held[name].kind ~= 'none' then there = there + 1 end
    end
    return there
  end

  elsewhere = {
    asked = asking and asking.asked or {}, held = held,
    read = function(command, name, ...)
      local key = held[name]
      if not key then
        if asking then return asking.read(command, name, ...) end
        error('read: ' .. tostring(name) .. ' lies at an id that this script does not read', 4)
      end
      if command == 'EXISTS' then return count({name, ...}) end
      local by = COMMANDS[command]
      if not by then error('read: ' .. command .. ' is not for keys of another id on a Redis Cluster', 4) end
      if key.kind == 'none' then return by[2](...) end
      if key.kind ~= by[1] then return {err = 'WRONGTYPE the key holds another type'} end
      return by[3](key.value, ...)
    end,
  }

  -- Whether these keys were looked at again before this run.
  function elsewhere.is_late()
    if readonly then return false end
    local last = redis.pcall('GET', note)
    if type(last) == 'string' and last > found[1] then return true end
    queued[#queued + 1] = {'SET', note, found[1], 'PX', KEPT_MS}
    needs[#queued] = ''
    return false
  end
end
