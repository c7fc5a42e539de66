-- @summary  Read what was given up of a service outside or of a receiver of webhooks, oldest first.
-- @key      dead  #calls-dead:SERVICE or #webhook-dead:NAME
-- @returns  {more, id, fields, id, fields, ...}: more 1 when others follow, fields a list of names and values
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the entries told, at most 100
-- @weight   900
--
-- KEYS[1]   dead       stream
-- ARGV[1]   from       the first id; - for the oldest, ( before it for the one behind it
-- ARGV[2]   upto       the last id; + for the newest
-- ARGV[3]   limit      entries told, 1...100
-- ARGV[4]   bytes_max  of the fields told, 1...1048576; the first entry is told whatever it has

local CHUNK = 10 -- so that hardly more is read than told

if #KEYS ~= 1 or #ARGV ~= 4 then return refuse('BADARG', 'dead_letters takes 1 key and 4 arguments') end
local from, upto = ARGV[1], ARGV[2]
local limit, bytes_max = integer(ARGV[3], 1, 100), integer(ARGV[4], 1, 1048576)
local ID = '%d%d?%d?%d?%d?%d?%d?%d?%d?%d?%d?%d?%d?%d?%d?'
local is_from = from == '-' or string.find(from, '^%(?' .. ID .. '%-' .. ID .. '$')
if not is_from or upto ~= '+' and not string.find(upto, '^' .. ID .. '%-' .. ID .. '$') then
  return refuse('BADARG', 'from or upto is no id')
end
if not limit or not bytes_max then return refuse('BADARG', 'limit or bytes_max is not a number in range') end

local told, bytes = {0}, 0
while true do
  local entries = redis.pcall('XRANGE', KEYS[1], from, upto, 'COUNT', CHUNK)
  if failed(entries) then return bad_key('dead', entries) end
  for _, entry in ipairs(entries) do
    for _, word in ipairs(entry[2]) do bytes = bytes + #word end
    if #told > 1 and (bytes > bytes_max or #told > 2 * limit) then
      told[1] = 1
      return told
    end
    told[#told + 1], told[#told + 2] = entry[1], entry[2]
    from = '(' .. entry[1]
  end
  if #entries < CHUNK then return told end
end
