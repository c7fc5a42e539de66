-- @part     json
-- @summary  JSON that our scripts put into answers as it was stored: checked, and cheap enough for a page of it.

local CHECKED_BYTES_MAX = 4096

-- JSON text of an object that somebody stored, ready to be spliced, and its value; nil for anything else. It finds what
-- `stored_object` finds, but looks at the whole text at once where that looks at each value. A longer text is only
-- parsed: Redis needs a millisecond to look at 32 KiB in all these ways. (The gateway checks every answer again.)
local function stored(text)
  if type(text) ~= 'string' or string.byte(text) ~= 123 or string.byte(text, -1) ~= 125 then return nil end
  local value = decode(text)
  if type(value) ~= 'table' then return nil end
  if #text > CHECKED_BYTES_MAX then return raw(text), value end
  -- What stands between the strings. A string with other than ASCII or with control characters stays, is found by its
  -- quotes, and is looked at the long way, as is white space between values other than blanks.
  local bare = string.find(text, '\\', 1, true) and string.gsub(text, '\\.', '') or text
  bare = string.gsub(bare, '"[#-~ !]*"', '') -- all that is printable but the quote, what is frequent first
  if not string.find(bare, '[^,{}:%[%]]') then return raw(text), value end
  if string.find(bare, '["%c\128-\255]') then return stored_object(text), value end
  if string.find(bare, '[^%d,{}:%[%] .eE+%-truefalsn]') or string.find(bare, 'na', 1, true)
    or string.find(bare, '%.[^%d]') or string.find(bare, '[^%d]%.') or string.find(bare, '[:,%[ ]%-?0%d')
    or string.find(bare, '[:,%[ ]%+') then return nil end
  return raw(text), value
end
