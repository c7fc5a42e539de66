-- Values and JSON: put between checks.lua and command.lua in front of every command and refresh script.

local ANSWER_VALUES_MAX = 10000 -- values in an answer or in the data of an event; nobody would read more
local spliced = false           -- whether the body put text into an answer that nobody has checked

local null = cjson.null

-- A table that is written as a JSON array, also when it is empty.
local ARRAY = {}
-- @only array
local function array(list)
  return setmetatable(list or {}, ARRAY)
end
-- @end

-- JSON text that is written as it is.
local RAW = {}
local function raw(text)
  spliced = true
  return setmetatable({text = text}, RAW)
end

local values = 0 -- written since it was set to 0
local encode_any -- `encode` for all but plain texts, once it was made

-- Makes `encode_any`. Returns what `shortest` and `is_utf8` are.
local function make_values()
  -- The shortest decimal text that reads back as the same number; nil for what is no number.
  local function shortest_of(value)
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
  local function is_clean(text)
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
      for offset = 1, more do
        local byte = string.byte(text, place + offset)
        if not byte or byte < low or byte > high then return false end
        low, high = 128, 191
      end
      place = place + 1 + more
    end
    return true
  end

  -- A JSON string. Bytes that others wrote into Redis and that are not UTF-8 are told as "?": no client may get them.
  local function json_string(text)
    if not is_clean(text) then text = string.gsub(text, '[\128-\255]', '?') end
    return cjson.encode(text)
  end

  local function encode_table(value, depth)
    local parts = {}
    if getmetatable(value) == ARRAY then
      for index = 1, #value do parts[index] = encode_any(value[index], depth + 1) end
      return '[' .. table.concat(parts, ',') .. ']'
    end
    for name, member in pairs(value) do
      parts[#parts + 1] = json_string(tostring(name)) .. ':' .. encode_any(member, depth + 1)
    end
    return '{' .. table.concat(parts, ',') .. '}'
  end

  function encode_any(value, depth)
    values = values + 1
    if values > ANSWER_VALUES_MAX then error('more than ' .. ANSWER_VALUES_MAX .. ' values in one JSON text', 0) end
    local kind = type(value)
    if kind == 'string' then return json_string(value) end
    if kind == 'number' then return shortest_of(value) or error('a number that JSON has no text for', 0) end
    if kind == 'boolean' then return value and 'true' or 'false' end
    if kind == 'table' then
      if getmetatable(value) == RAW then return value.text end
      if depth > 30 then error('an answer nested too deeply', 0) end
      return encode_table(value, depth)
    end
    if value == null or value == nil then return 'null' end
    error('a value that JSON has no text for', 0)
  end

  return shortest_of, is_clean
end

-- @only shortest is_utf8
local shortest, is_utf8 = make_values()
-- @end

-- JSON text of a value: integers stay integers, other numbers keep every digit, `array` and `raw` are respected.
local function encode(value)
  -- Plain text and what is JSON already are told at a glance.
  if values < ANSWER_VALUES_MAX then
    if type(value) == 'string' and not string.find(value, '[\128-\255]') then
      values = values + 1
      return cjson.encode(value)
    elseif type(value) == 'table' and getmetatable(value) == RAW then
      values = values + 1
      return value.text
    end
  end
  if not encode_any then make_values() end
  return encode_any(value, 0)
end

-- The value of a JSON text, nil when it is none.
local function decode(text)
  if type(text) ~= 'string' then return nil end
  local ok, value = pcall(cjson.decode, text)
  if ok then return value end
  return nil
end

-- @only stored_object
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
-- @end

-- @only sha1
-- SHA-1 of a text, as 40 hex digits.
local function sha1(text)
  return redis.sha1hex(text)
end
-- @end

-- @only iso
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
-- @end
