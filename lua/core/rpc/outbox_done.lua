-- @summary  Delete entries of the outbox that were done, and count them off their payers.
-- @key      stream  #outbox, #outbox:3 and so on, or such a name with :next
-- @key      payers  the same name with :payers
-- @returns  how many entries were there
-- @errors   BADARG, BADKEY
-- @cost     O(n) in the entries, at most 1,000
-- @weight   2500
--
-- KEYS[1]   stream  stream of entries
-- KEYS[2]   payers  hash: payer -> how many entries of the stream are the payer's, where they are counted
-- ARGV[1..] id, payer of each entry
--
-- Only an entry that is still there is counted off, so two workers that overlap count it once. Without entries there is
-- nothing to count: then the hash is deleted, and whatever was wrong in it.

local ENTRIES_MAX = 1000

if #KEYS ~= 2 or #ARGV == 0 or #ARGV % 2 == 1 or #ARGV > 2 * ENTRIES_MAX then
  return refuse('BADARG', 'outbox_done takes 2 keys, and an id and a payer for each of at most 1000 entries')
end
local done, gone = 0, {}
for index = 1, #ARGV, 2 do
  local deleted = redis.pcall('XDEL', KEYS[1], ARGV[index])
  if failed(deleted) then return bad_key('stream', deleted) end
  if deleted == 1 then
    local payer = ARGV[index + 1]
    done, gone[payer] = done + 1, (gone[payer] or 0) + 1
  end
end
if redis.call('XLEN', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return done
end
for payer, count in pairs(gone) do
  local left = redis.pcall('HINCRBY', KEYS[2], payer, -count)
  if failed(left) then
    -- Another type, or no number: what was counted is lost, and the payer's part is free.
    if redis.call('TYPE', KEYS[2]).ok == 'hash' then
      redis.call('HDEL', KEYS[2], payer)
    else
      redis.call('DEL', KEYS[2])
    end
  elseif left < 1 then
    redis.call('HDEL', KEYS[2], payer)
  end
end
return done
