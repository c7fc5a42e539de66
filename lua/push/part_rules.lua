-- @part     rules
-- @summary  What a user wants to be pushed, as it is stored and told. Needs the key `rules`.
-- @type     words {*: 'on'|'off'|'urgent'}
-- @type     rules {types: words, quietFrom: string|null, quietTo: string|null, quietMode: 'hold'|'silent',
--            timezone: string|null}

local TYPES_MAX = 50
local WORDS = {on = true, off = true, urgent = true}

-- The time of day as text, of minutes.
local function clock_text(minutes)
  return string.format('%02d:%02d', math.floor(minutes / 60), minutes % 60)
end

-- A stored time of day; nil for what is none.
local function minutes_of(value)
  if type(value) ~= 'number' or value ~= math.floor(value) or value < 0 or value > 1439 then return nil end
  return value
end

-- The rules as they are told. What is stored and wrong counts as not set.
local function told_rules()
  local value = decode(read('GET', key.rules))
  if type(value) ~= 'table' then value = {} end
  local types, count = {}, 0
  for name, word in pairs(type(value.types) == 'table' and value.types or {}) do
    if type(name) == 'string' and WORDS[word] and count < TYPES_MAX then types[name], count = word, count + 1 end
  end
  local quiet_from, quiet_to = minutes_of(value.from), minutes_of(value.to)
  local is_quiet = quiet_from and quiet_to
  return {
    types = types, quietFrom = is_quiet and clock_text(quiet_from) or null,
    quietTo = is_quiet and clock_text(quiet_to) or null, quietMode = value.mode == 'silent' and 'silent' or 'hold',
    timezone = type(value.z) == 'string' and value.z or null,
  }
end
