-- @summary  The state a client of a challenge receives when it joins: the top 100 of its leaderboard.
-- @state    challenge
-- @key      board  leaderboard:{id}
-- @returns  {challengeId: string, top: [place]}
-- @cost     O(log n) in ranked users
-- @weight   600
--
-- Put between the prelude and subscribe.lua; defines `state`, which subscribe.lua calls.
-- KEYS[3]   board  zset userId, score; other systems write it too
--
-- top.lua answers the same as a command. Another type under the key is no state, and nothing raises an error.

local TOP_MAX = 100

-- The sequences of RFC 3629 beyond ASCII; the first byte tells which one it may be.
local UTF8 = {
  '[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
  '\237[\128-\159][\128-\191]', '\240[\144-\191][\128-\191][\128-\191]',
  '[\241-\243][\128-\191][\128-\191][\128-\191]', '\244[\128-\143][\128-\191][\128-\191]',
}

-- A JSON string; the bytes of a text that is not UTF-8 are told as "?".
local function quoted(text)
  local rest = text
  if string.find(text, '[\128-\255]') then
    for _, sequence in ipairs(UTF8) do rest = string.gsub(rest, sequence, ' ') end
  end
  if string.find(rest, '[\128-\255]') then text = string.gsub(text, '[\128-\255]', '?') end
  return cjson.encode(text)
end

-- The shortest JSON number that reads back as the same; `null` for an infinite score.
local function digits(value)
  if value == math.huge or value == -math.huge then return 'null' end
  if value == math.floor(value) and math.abs(value) <= INTEGER_MAX then return value == 0 and '0' or decimal(value) end
  for precision = 15, 16 do
    local text = string.format('%.' .. precision .. 'g', value)
    if tonumber(text) == value then return text end
  end
  return string.format('%.17g', value)
end

function state()
  local challenge = string.match(KEYS[3], 'leaderboard:{?([A-Za-z0-9._~:-]+)}?$')
  local top = redis.pcall('ZREVRANGE', KEYS[3], 0, TOP_MAX - 1, 'WITHSCORES')
  if not challenge or failed(top) then return false end
  local items = {}
  for index = 1, #top, 2 do
    if #top[index] <= MEMBER_BYTES_MAX then
      items[#items + 1] = string.format('{"rank":%d,"userId":%s,"score":%s}', (index + 1) / 2, quoted(top[index]),
        digits(tonumber(top[index + 1])))
    end
  end
  return '{"challengeId":"' .. challenge .. '","top":[' .. table.concat(items, ',') .. ']}'
end
