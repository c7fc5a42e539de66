-- @summary  The values that a command needs before its keys can be named (@resolve).
-- @key      values <what the headers say>
-- @returns  values -- for each key a text, or false where there is none
-- @errors   BADKEY
-- @cost     O(n) in keys, at most 32
-- @weight   60
--
-- KEYS[1] values   and every further key; each holds a text, or a hash
-- ARGV[n] field    of the hash KEYS[n], or empty: the key holds the value itself

local values = {}
for index = 1, #KEYS do
  local field = ARGV[index]
  local value
  if field == '' then
    value = redis.pcall('GET', KEYS[index])
  else
    value = redis.pcall('HGET', KEYS[index], field)
  end
  if failed(value) then return bad_key('a resolved key', value) end
  values[index] = value
end
return values
