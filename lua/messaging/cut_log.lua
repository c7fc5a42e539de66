-- @command  cut_log
-- @summary  Take the texts of a message that was changed or removed out of the log of its conversation.
-- @allow    worker
-- @arg      conversationId id
-- @arg      messageId      id
-- @arg      at             int 0..253370764800000 -- when the text was said
-- @arg      after          int 0..9007199254740991 optional -- the whole log is searched; up to this offset it was
-- @include  pair
-- @include  conversation
-- @include  message
-- @key      messages conversation:{conversationId}#messages
-- @key      log      conversation:{conversationId}#log
-- @calls    cut_log
-- @returns  {cut: int, done: bool}
-- @cost     O(n) in the events looked at, at most 200
-- @weight   1800
-- @idempotent
--
-- A cut event leaves a hole in the log. A client that comes back to an offset before it gets a gap; nobody misses
-- anything, since the change or the removal is an event of its own. The event is looked for around its time,
-- and where it is not found there in the whole log, some events in a run.

local LOOKED_MAX = 200
local AROUND_MS = 2000
local CLOCK_MS = 3600000 -- by which clocks may have gone back

-- The offset and the time of an entry.
local function place_of_entry(entry)
  if not entry then return nil end
  return tonumber(string.match(entry[1], '^%d+')), integer(entry[2][8], 0, INTEGER_MAX) or 0
end

-- The offset of the first event of a time or later, as far as times grow.
local function first_at(ms, low, high)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found, at = place_of_entry(read('XRANGE', key.log, decimal(middle) .. '-0', '+', 'COUNT', 1)[1])
    if not found or at >= ms then high = middle else low = found + 1 end
  end
  return low
end

local first, first_ms = place_of_entry(read('XRANGE', key.log, '-', '+', 'COUNT', 1)[1])
if not first or first_ms > args.at + CLOCK_MS then return {cut = 0, done = true} end
local last = place_of_entry(read('XREVRANGE', key.log, '+', '-', 'COUNT', 1)[1])
local from = args.after and args.after + 1 or first_at(args.at - AROUND_MS, first, last)

local message = message_of(args.messageId, read('HGET', key.messages, args.messageId))
local begins = '{"id":"' .. args.messageId .. '","conversationId":"'
local present = message and not message.removed and '"text":' .. encode(message.text) .. ',"timestamp":"'
local entries, gone = read('XRANGE', key.log, decimal(from) .. '-0', '+', 'COUNT', LOOKED_MAX), {}
for _, entry in ipairs(entries) do
  local event, text = entry[2][2], entry[2][4] or ''
  if (event == 'message:added' or event == 'message:modified') and string.sub(text, 1, #begins) == begins
    and not (present and string.find(text, present, 1, true)) then
    gone[#gone + 1] = entry[1]
  end
end
if #gone > 0 then write('XDEL', key.log, unpack(gone)) end
local is_end = #entries < LOOKED_MAX
local is_done = #gone > 0 and not args.after or is_end and (args.after ~= nil or from <= first)
if not is_done then
  later('cut_log', {
    conversationId = args.conversationId, messageId = args.messageId, at = args.at,
    after = args.after and place_of_entry(entries[#entries]) or first - 1,
  })
end
return {cut = #gone, done = is_done}
