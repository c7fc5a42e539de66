-- The second check of a body's writes, by what their keys hold: put between writes.lua and values.lua in front of every
-- command and refresh script.

-- The further check of a run that adds to a stored number or chooses a stream's id, which `write_rest` has noted. What
-- it needs it makes when it is called. Returns a function that checks the next write and returns an error reply or nil.
local function hard_checker()
  local texts, lasts = {}, {}
  -- Checks that what a write adds to is a number. `texts` holds, by key and field, what earlier writes of this run put
  -- there; a key's true says that they deleted it first. Returns an error reply or nil.
  local function check_count(words, field)
    local name, set = words[2], texts[words[2]]
    local text = set and set[field or '']
    if text == nil and not (set and set[true]) then
      text = field and redis.call('HGET', name, field) or not field and redis.call('GET', name)
    end
    if not text then return nil end
    local float = string.find(words[1], 'FLOAT', 1, true)
    if not (float and number(text) or not float and whole(text)) then
      return refuse('BADKEY', name .. ' holds text that is no number to add to')
    end
    if float then
      texts[name] = set or {}
      texts[name][field or ''] = '0.5' -- it may have a fraction now
    end
  end

  -- Notes what a write puts under a key that a later write of this run may add to.
  local function note_text(words)
    local command, name = words[1], words[2]
    local set = texts[name] or {}
    if command == 'DEL' or command == 'UNLINK' then
      for index = 2, #words do texts[words[index]] = {[true] = true} end
      return
    elseif command == 'SET' or command == 'SETNX' then set[''] = words[3]
    elseif command == 'SETEX' or command == 'PSETEX' then set[''] = words[4]
    elseif command == 'APPEND' then set[''] = ''
    elseif command == 'HSET' then
      for index = 3, #words, 2 do set[words[index]] = words[index + 1] end
    elseif command == 'HSETNX' then
      if not whole(words[4]) then set[words[3]] = words[4] end
    elseif command == 'HDEL' then
      for index = 3, #words do set[words[index]] = false end
    else return end
    texts[name] = set
  end

  -- Checks that a stream takes an id that the body chose: it must be greater than every id before it.
  local function check_stream_id(words)
    local id
    for index = 3, #words do
      if string.find(words[index], '^%d+%-%d+$') then id = words[index] break end
      if words[index] == '*' then return nil end
    end
    local name, last = words[2], lasts[words[2]]
    if not last then
      local facts = redis.pcall('XINFO', 'STREAM', name)
      for index = 1, #facts, 2 do
        if facts[index] == 'last-generated-id' then last = facts[index + 1] end
      end
    end
    local ms, n = string.match(id, '^(%d+)%-(%d+)$')
    local last_ms, last_n = string.match(last or '0-0', '^(%d+)%-(%d+)$')
    ms, n, last_ms, last_n = tonumber(ms), tonumber(n), tonumber(last_ms), tonumber(last_n)
    if ms < last_ms or ms == last_ms and n <= last_n then
      return refuse('BADKEY', name .. ' has ids that ' .. id .. ' cannot follow')
    end
    lasts[name] = id
  end

  return function(words)
    local command = words[1]
    if command == 'XADD' then return check_stream_id(words) end
    if string.find(command, '^H?INCRBY') or command == 'INCR' or command == 'DECR' or command == 'DECRBY' then
      return check_count(words, string.byte(command) == 72 and words[3])
    end
    note_text(words)
  end
end

-- Checks every queued write against what its key holds, since a refusal half-way could not be undone. What earlier
-- writes of this run will have put there counts. Returns an error reply or nil.
local function check_writes()
  local check = is_hard and hard_checker()
  for index = 1, #queued do
    local words, needed = queued[index], needs[index]
    local command, name = words[1], words[2]
    if needed ~= '' and known[name] ~= needed then
      local kind = known[name] or redis.call('TYPE', name).ok
      if kind ~= needed and kind ~= 'none' then return refuse('BADKEY', name .. ' holds another type') end
      known[name] = needed
    elseif command == 'SET' or command == 'SETEX' or command == 'PSETEX' then
      known[name] = 'string'
    elseif command == 'DEL' or command == 'UNLINK' then
      for place = 2, #words do known[words[place]] = 'none' end
    end
    local wrong = check and check(words)
    if wrong then return wrong end
  end
end
