-- @part     code
-- @summary  How the code that a shop shows is made of its secret and the minute.

local CODE_WINDOW_MS = 60000

-- HMAC-SHA1 (RFC 2104) in hex, for a secret of at most 64 bytes.
local function hmac(secret, text)
  local function padded(byte)
    local out = {}
    for place = 1, 64 do out[place] = string.char(bit.bxor(string.byte(secret, place) or 0, byte)) end
    return table.concat(out)
  end
  local inner = string.gsub(sha1(padded(0x36) .. text), '..', function(hex) return string.char(tonumber(hex, 16)) end)
  return sha1(padded(0x5c) .. inner)
end
