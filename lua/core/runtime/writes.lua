-- What a body may read and write: put between prelude.lua and command.lua in front of every command and refresh script.
--
-- Redis has no way back. So a write is checked twice before the first one is made: its command, its words and its key
-- when the body asks for it, and what the key holds when the body has returned (checks.lua).

-- From the header, by the generated part.
local key, args
local first_key, last_key = 1, 0 -- where the keys of the header stand in KEYS
local optional = ' '    -- the names of the arguments that may be absent, between spaces
local readonly = false

-- The writes that the body wants, and the type that each needs its key to have.
local queued, needs = {nil, nil, nil, nil}, {nil, nil, nil, nil} -- with room: a table that grows is made anew
local is_hard = false -- whether a write adds to a number that is stored, or chooses the id of a stream's entry

-- Types of keys that were found by reading them.
local known = {}

-- A finite number of decimal text, nil for anything else (`tonumber` alone takes nan, inf and 0x10).
local function number(text)
  if type(text) ~= 'string' or #text > 32 or not string.find(text, '^%-?[0-9.eE+-]+$') then return nil end
  local value = tonumber(text)
  if not value or value ~= value or value == math.huge or value == -math.huge then return nil end
  return value
end

-- Reading a name that the header does not have.
local UNDECLARED = {__index = function(list, name)
  name = tostring(name)
  if list == key then error('key.' .. name .. ' is no @key of the header', 2) end
  if not string.find(optional, ' ' .. name .. ' ', 1, true) then
    error('args.' .. name .. ' is no @arg of the header', 2)
  end
end}

-- Whether a name is that of a key of the header, whatever the body has made of `key`.
local function is_declared(name)
  local keys = KEYS
  for index = first_key, last_key do
    if keys[index] == name then return true end
  end
  return false
end

local read_rest -- `read` for what is asked less often, once it was made
-- On a Cluster: how keys of other topics are read in @readonly commands (elsewhere.lua), and those of another id
-- (looked.lua).
local elsewhere

local function make_read()
  -- The commands a body may read by: the word behind the command is the key. In MANY_READS every word is one.
  local READS = ' HGET HMGET GET ZSCORE HGETALL SISMEMBER SCARD ZCOUNT ZREVRANGE HLEN PTTL TTL SRANDMEMBER ZCARD \
    ZREVRANK ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGE ZRANK XRANGE XREVRANGE XLEN HVALS HKEYS HEXISTS SMEMBERS SMISMEMBER \
    ZMSCORE ZLEXCOUNT ZRANGEBYLEX ZREVRANGEBYLEX ZRANDMEMBER ZSCAN HSTRLEN HRANDFIELD HSCAN SSCAN STRLEN GETRANGE \
    GETBIT BITCOUNT BITPOS TYPE LLEN LRANGE LINDEX LPOS GEOPOS GEODIST GEOHASH GEOSEARCH PFCOUNT '
  local MANY_READS = ' EXISTS SINTER SUNION SDIFF MGET '

  -- Whether a body may read a key: one of the header, or what any topic has for everybody's eyes, its log and the time
  -- of its latest event.
  local function is_readable(name)
    return type(name) == 'string'
      and (is_declared(name) or elsewhere and elsewhere.held and elsewhere.held[name]
        or string.sub(name, -4) == '#log' or string.sub(name, -7) == '#latest')
  end

  return function(command, name, ...)
    local place = name
    if type(command) ~= 'string' then error('read: the command is ' .. type(command) .. ', not text', 3) end
    if not string.find(READS, ' ' .. command .. ' ', 1, true) then
      if command == 'XINFO' and name == 'STREAM' then
        place = ...
      elseif string.find(MANY_READS, ' ' .. command .. ' ', 1, true) then
        -- There may be a thousand, nearly all of one kind.
        for _, other in ipairs({...}) do
          if not (type(other) == 'string' and string.find(other, '#latest', -7, true) or is_readable(other)) then
            error('read: ' .. tostring(other) .. ' is no @key of the header', 3)
          end
        end
      else
        error('read: ' .. command .. ' is no command to read by; lua/README.md lists them', 3)
      end
    end
    if not is_readable(place) then
      error('read: ' .. tostring(place) .. ' is no @key of the header', 3)
    end
    local reply
    if elsewhere and not is_declared(place) then
      reply = elsewhere.read(command, name, ...)
      if reply == nil then error({reply = refuse('FAULT', 'a read that was not answered yet')}, 0) end
    else
      reply = redis.pcall(command, name, ...)
    end
    if failed(reply) then
      if string.find(reply.err, 'arguments must be', 1, true) then
        error('read: a word is neither text nor a number', 3)
      end
      error({reply = bad_key(place, reply)}, 0)
    end
    -- The type that the key has, where the command tells.
    local first = string.byte(command)
    known[place] = known[place] or first == 72 and 'hash' or first == 90 and 'zset' or first == 88 and 'stream'
      or (command == 'SISMEMBER' or command == 'SCARD') and 'set' or nil
    return reply
  end
end

-- Reads from Redis; an error, such as another type under the key, ends the script with nothing changed.
local function read(command, name, ...)
  -- What is asked most, at a glance; whatever is wrong with it is said below.
  local kind = (command == 'HGET' or command == 'HMGET') and 'hash'
    or (command == 'ZSCORE' or command == 'ZCOUNT') and 'zset'
  if kind and is_declared(name) then
    local reply = redis.pcall(command, name, ...)
    if type(reply) ~= 'table' or not reply.err then
      known[name] = known[name] or kind
      return reply
    end
  end
  read_rest = read_rest or make_read()
  local reply = read_rest(command, name, ...) -- no tail call: what is wrong is told with the place in the body
  return reply
end

-- @only name_of
-- The name that the keys of a topic begin with, and that of its channel. Behind the prefix stands a brace where ids are
-- hash tags.
local function name_of(topic)
  local prefix = ARGV[9]
  if string.byte(prefix, -1) ~= 123 then return prefix .. topic end
  local colon = string.find(topic, ':', 1, true) or 0
  return string.sub(prefix, 1, -2) .. string.sub(topic, 1, colon) .. '{' .. string.sub(topic, colon + 1) .. '}'
end
-- @end

-- @only topic_log topic_latest
-- The name of a topic's log, for a script that reads topics it learns only while it runs. Such a key is not declared,
-- and on Redis Cluster it lies in another slot: for reads only, and there for @readonly scripts only.
local function topic_log(topic)
  return name_of(topic) .. '#log'
end

-- The same for the time of a topic's latest event, where a script keeps one.
local function topic_latest(topic)
  return name_of(topic) .. '#latest'
end
-- @end

local write_rest, whole -- `write` for what is written less often and what it reads numbers by, once they were made

local function make_write()
  local WORDS_MAX = 4000 -- words of one write; Lua's unpack takes 8,000

  -- The commands a body may write by, the type their key must have (none: any), and the form of their words.
  --   p pairs   n some words   0 none   1 one   2 two   * keys only   E a time   S as SET   X a time and a value
  --   I none, on a whole number   B, i one whole number to add (i: to a field)   F, f the same with a fraction
  --   Z as ZADD   z a number and a member   r two scores   R two whole numbers   L a whole number and a value
  --   c a count or none   A as XADD   T as XTRIM   D ids of a stream
  local WRITES = ' HSET:hash:p EXPIRE::E SET::S ZADD:zset:Z PEXPIRE::E HDEL:hash:n SADD:set:n SREM:set:n DEL::* \
    UNLINK::* ZREM:zset:n ZINCRBY:zset:z ZREMRANGEBYSCORE:zset:r XADD:stream:A PERSIST::0 HINCRBY:hash:i INCR:string:I \
    INCRBY:string:B DECR:string:I DECRBY:string:B INCRBYFLOAT:string:F HINCRBYFLOAT:hash:f HSETNX:hash:2 \
    SETNX:string:1 SETEX::X PSETEX::X APPEND:string:1 ZREMRANGEBYRANK:zset:R ZPOPMIN:zset:c ZPOPMAX:zset:c \
    SPOP:set:c LPUSH:list:n RPUSH:list:n LPUSHX:list:n RPUSHX:list:n LPOP:list:c RPOP:list:c LTRIM:list:R \
    LREM:list:L XTRIM:stream:T XDEL:stream:D EXPIREAT::E PEXPIREAT::E '

  -- A whole number of decimal text as Redis reads it, within +-(2^53 - 1); nil for anything else.
  function whole(text)
    if text ~= '0' and (#text > 17 or not string.find(text, '^%-?[1-9]%d*$')) then return nil end
    local value = tonumber(text)
    if value > INTEGER_MAX or value < -INTEGER_MAX then return nil end
    return value
  end

  local function is_score(text)
    return number(text) ~= nil or text == 'inf' or text == '+inf' or text == '-inf'
  end

  local function is_bound(text)
    return is_score(string.byte(text) == 40 and string.sub(text, 2) or text)
  end

  -- Makes the words of a call text, as Redis would. Returns what is wrong, or nil.
  local function spell(words, count)
    if count > WORDS_MAX then return 'more than ' .. WORDS_MAX .. ' words in one call' end
    for index = 1, count do
      local word = words[index]
      if type(word) == 'number' then
        if word ~= word or word == math.huge or word == -math.huge then
          return 'word ' .. index .. ' of the call is no finite number'
        end
        words[index] = string.format(word == math.floor(word) and '%.0f' or '%.17g', word)
      elseif type(word) ~= 'string' then
        return 'word ' .. index .. ' of the call is ' .. type(word) .. ', not text or a number'
      end
    end
  end

  -- The same as form_fault for what is written least.
  local function rare_fault(form, words, count)
    local more = count - 2
    -- What is wrong with the words after SET key value, or nil.
    local function set_fault(words, count)
      local seen_time, seen_condition, at = false, false, 4
      while at <= count do
        local option = words[at]
        if option == 'EX' or option == 'PX' or option == 'EXAT' or option == 'PXAT' then
          local time = words[at + 1] and whole(words[at + 1])
          if seen_time or not time or time < 1 or time > 253402300799000 then return 'a time to live' end
          seen_time, at = true, at + 2
        elseif option == 'KEEPTTL' and not seen_time then
          seen_time, at = true, at + 1
        elseif (option == 'NX' or option == 'XX') and not seen_condition then
          seen_condition, at = true, at + 1
        else
          return 'a value, and EX, PX, EXAT, PXAT, KEEPTTL, NX or XX'
        end
      end
    end

    -- What is wrong with the words of a stream's MAXLEN from `at`, or nil, and where they end.
    local function maxlen_fault(words, at)
      at = at + 1
      if words[at] == '=' or words[at] == '~' then at = at + 1 end
      local most = words[at] and whole(words[at])
      if not most or most < 0 then return 'MAXLEN and a count' end
      return nil, at + 1
    end

    local function is_stream_id(text)
      local ms, n = string.match(text, '^(%d+)%-(%d+)$')
      return integer(ms, 0, INTEGER_MAX) and integer(n, 0, INTEGER_MAX) ~= nil
    end

    if form == 'S' then return more < 1 and 'a value' or set_fault(words, count) end
    if form == 'X' then
      local time = more == 2 and whole(words[3])
      return (not time or time < 1 or time > 315360000000) and 'a time to live and a value' or nil
    end
    if form == 'z' then return (more ~= 2 or not number(words[3])) and 'a number and a member' or nil end
    if form == 'B' then return (more ~= 1 or not whole(words[3])) and 'a whole number' or nil end
    if form == 'F' then return (more ~= 1 or not number(words[3])) and 'a number' or nil end
    if form == 'i' then return (more ~= 2 or not whole(words[4])) and 'a field and a whole number' or nil end
    if form == 'f' then return (more ~= 2 or not number(words[4])) and 'a field and a number' or nil end
    if form == 'R' then
      return (more ~= 2 or not (whole(words[3]) and whole(words[4]))) and 'two whole numbers' or nil
    end
    if form == 'L' then return (more ~= 2 or not whole(words[3])) and 'a whole number and a value' or nil end
    if form == 'c' then
      local most = more == 1 and whole(words[3])
      return more ~= 0 and not (most and most >= 1) and 'a count or nothing' or nil
    end
    if form == 'r' then
      return (more ~= 2 or not (is_bound(words[3]) and is_bound(words[4]))) and 'two scores' or nil
    end
    local at, wrong = 3, nil
    if form == 'A' or form == 'T' then
      if words[3] == 'MAXLEN' then wrong, at = maxlen_fault(words, 3) end
      if wrong then return wrong end
      if form == 'T' then return (at == 3 or at ~= count + 1) and 'MAXLEN and a count' or nil end
      local id = words[at]
      if not id or (id ~= '*' and not is_stream_id(id)) or count - at < 2 or (count - at) % 2 == 1 then
        return 'MAXLEN and a count or not, an id or *, then fields and values in pairs'
      end
      return nil
    end
    if more < 1 then return 'ids' end
    for index = 3, count do
      if not is_stream_id(words[index]) then return 'ids such as 5-0' end
    end
  end

  -- What the words of a write should have been, in words; nil when they are right. words[1] is the command and
  -- words[2] the key.
  local function form_fault(form, words, count)
    local more = count - 2
    if form == 'n' then return more < 1 and 'at least one word' or nil end
    if form == 'p' then return (more < 2 or more % 2 == 1) and 'fields and values in pairs' or nil end
    if form == '0' or form == 'I' then return more ~= 0 and 'no more words' or nil end
    if form == '1' then return more ~= 1 and 'one word' or nil end
    if form == '2' then return more ~= 2 and 'two words' or nil end
    if form == '*' then return nil end
    if form == 'S' and (count == 3 or count == 5 and words[4] == 'EX' and integer(words[5], 1, TTL_SECONDS_MAX)) then
      return nil
    end
    if form == 'E' then
      local time = more == 1 and whole(words[3])
      return (not time or time < 1 or time > 253402300799000) and 'a time' or nil
    end
    if form == 'Z' then
      local at = 3
      while words[at] == 'GT' or words[at] == 'LT' or words[at] == 'NX' or words[at] == 'XX' or words[at] == 'CH' do
        at = at + 1
      end
      -- Redis refuses most conditions beside each other.
      if at > 4 and not (at == 5 and (words[3] == 'CH' or words[4] == 'CH') and words[3] ~= words[4])
        or count < at + 1 or (count - at) % 2 == 0 then
        return 'at most one of GT, LT, NX, XX, then scores and members in pairs'
      end
      for index = at, count, 2 do
        if not is_score(words[index]) then return 'scores that are numbers' end
      end
      return nil
    end
    return rare_fault(form, words, count)
  end

  return function(words, count)
    if readonly then error('write: the header says @readonly', 3) end
    local wrong = spell(words, count)
    if wrong then error('write: ' .. wrong, 3) end
    local command = tostring(words[1])
    local at = not string.find(command, '[^A-Z]') and string.find(WRITES, ' ' .. command .. ':', 1, true)
    if not at then error('write: ' .. command .. ' is no command to write by; lua/README.md lists them', 3) end
    local needed, form = string.match(WRITES, '^(%a*):(.)', at + #command + 2)
    for index = 2, form == '*' and math.max(count, 2) or 2 do
      if not (words[index] and is_declared(words[index])) then
        error('write: ' .. tostring(words[index]) .. ' is no @key of the header', 3)
      end
    end
    wrong = form_fault(form, words, count)
    if wrong then error('write: ' .. command .. ' takes a key and ' .. wrong, 3) end
    if form == 'S' then
      -- A condition leaves what is there as it is.
      for index = 4, count do
        if words[index] == 'NX' or words[index] == 'XX' then needed = 'string' end
      end
    elseif form == 'A' or form == 'I' or form == 'B' or form == 'F' or form == 'i' or form == 'f' then
      is_hard = true
    end
    if form == '*' then
      -- A log that is deleted takes that of the epoch before with it.
      for index = 2, count do
        if string.find(words[index], '^[^#]*#log$') then words[#words + 1] = words[index] .. '-past' end
      end
    end
    queued[#queued + 1] = words
    needs[#queued] = needed
  end
end

-- Queues a write. It is made after the body has returned, so a body computes what it cannot read yet.
local function write(...)
  local words, count = {...}, select('#', ...)
  -- What is written most, at a glance; whatever is wrong with it is said below.
  local kind = words[1] == 'HSET' and count % 2 == 0 and 'hash' or words[1] == 'ZADD' and count == 4 and 'zset'
  if kind and not readonly and count > 3 and count < 17 and is_declared(words[2]) then
    local index = 3
    while index <= count and type(words[index]) == 'string' do index = index + 1 end
    if index > count and (kind == 'hash' or number(words[3])) then
      local place = #queued + 1
      queued[place], needs[place] = words, kind
      return
    end
  end
  write_rest = write_rest or make_write()
  write_rest(words, count)
end
