-- @part     page
-- @summary  A page of a conversation's messages, newest first. Needs `conversation`, `message`, `cleared`.

local PAGE_BYTES_MAX = 32768
local LOOKED_MAX = 200 -- messages looked at for one page: those of blocked users are left out
local CHUNK = 25

-- Reads at most `limit` messages before a time (nil: the newest) for a viewer. Returns their JSON texts, and the time
-- before which older ones may lie, nil at the end; `after` is the time up to which the viewer sees nothing. Times are
-- unique and never change, so that pages by them have no hole and nothing twice, whatever is sent meanwhile.
local function page_before(before, limit, receipts, walled, after)
  local texts, bytes, looked = {}, 0, 0
  while looked < LOOKED_MAX do
    local bound = before and '(' .. decimal(before) or '+inf'
    local count = math.min(CHUNK, limit - #texts)
    local entries = read('ZREVRANGEBYSCORE', key.order, bound, '(' .. decimal(after), 'WITHSCORES', 'LIMIT', 0, count)
    local ids, times = {}, {}
    for index = 1, #entries, 2 do
      ids[#ids + 1] = string.match(entries[index], ' (%S+)$') or ''
      times[#ids] = integer(entries[index + 1], 0, YEAR_9999_MS) or 0
    end
    if #ids == 0 then return texts, nil end
    local found = read('HMGET', key.messages, unpack(ids))
    for index, id in ipairs(ids) do
      looked = looked + 1
      local message = is_message_id(id) and message_of(id, found[index])
      if message and not message.removed and not walled[message.sender] then
        local text = message_text(message, receipts)
        bytes = bytes + #text
        if bytes > PAGE_BYTES_MAX and #texts > 0 then return texts, before end
        texts[#texts + 1] = text
      end
      before = times[index]
      if #texts == limit then return texts, before end
    end
    if #ids < count then return texts, nil end
  end
  return texts, before
end
