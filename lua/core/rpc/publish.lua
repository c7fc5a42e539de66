-- @summary  Publish events on a topic: give each the next offset, log it, and send it to every gateway, atomically.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @key      seen  {topic}#seen#{publisher}#{id}
-- @returns  "<epoch> <offset> <outcome>": 0 published, 1 duplicate, 2 conflict, which has no position; then the same
--           three words for each further event. One text: Redis looks seven times at a table that it answers with.
-- @errors   BADARG, BADKEY, BADEPOCH, NOPERM
-- @cost     O(n) in the events published, and in those that a lowered log_max trims
-- @weight   100
--
-- KEYS[1]   log    stream of recent events, id <offset>-0, fields e (event), d (data), i (id), t (ms)
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3]   seen   string "<epoch> <offset> <print>": where this publisher's id was logged and the fingerprint of what
--                  was published; the meta key again when there is no id
-- ARGV[1]   channel     the topic's pub/sub channel
-- ARGV[2]   event       name, 1...64 bytes
-- ARGV[3]   data        one JSON object, already validated
-- ARGV[4]   id          idempotency key, or -; then, after a space, the origin: the session that does not want the
--                       event back, 1...32 of A-Za-z0-9_-. It goes to the channel only.
-- ARGV[5]   print       with an id, the fingerprint of event and data, hexadecimal; otherwise empty
-- ARGV[6]   terms       six words with one space between them: as arguments of their own they would cost Redis more
--                       now_ms      milliseconds since 1970
--                       log_max     events kept, 0...1000000 and from 100 on at most 9 more; 0: none, offsets still
--                                   advance. `EVENTS:BYTESb`: the log is cut to so many bytes as well
--                       log_ttl_s   seconds the log outlives its last event
--                       meta_ttl_s  seconds the position outlives it; at least log_ttl_s
--                       seen_ttl_s  seconds a retry is recognised
--                       epoch       candidate: random, new for every call; used if a new epoch begins
-- ARGV[7]   run         fence of the server the caller talks to (see is_whole)
-- ARGV[8]   top         "<epoch> <offset>" of the last event the caller knows of, or empty
-- KEYS[4..]             seen of further events
-- ARGV[9..]             event, data, id and print of each of them. All events stand or fall together; a further one
--                       costs far less than the first, since position and times to live are written once.
--
-- A retry with a known id of the same publisher writes and sends nothing and returns the first position with outcome 1.
-- A known id with another fingerprint is a conflict: nothing is written or sent for it, and the other events of the
-- call are published. Ids count only within the epoch; after it the event is published anew. A new epoch begins, and
-- the old log is deleted, when the position is absent or unreadable, was written in another run of Redis (but for two
-- runs that sync every write), or lags behind the log or `top`. On any error nothing has changed.

if #KEYS < 3 or #ARGV ~= 4 * #KEYS - 4 then
  return refuse('BADARG', 'publish takes 3 keys and 8 arguments, and for each further event 1 and 4')
end
local now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s, candidate =
  string.match(ARGV[6], '^([^ ]*) ([^ ]*) ([^ ]*) ([^ ]*) ([^ ]*) ([^ ]*)$')
if not now_ms then return refuse('BADARG', 'terms are not six words') end

local log_bytes
if string.byte(log_max, -1) == 98 then
  log_max, log_bytes = cut_log(log_max)
  if not log_bytes then return refuse('BADARG', 'log_max is neither a number nor EVENTS:BYTESb') end
end

local publish_event, commit_event, check_event, check_policy, recall = publishing()

-- What is answered of an event.
local function told(plan)
  if plan.conflict then return '- 0 2' end
  return plan.epoch .. ' ' .. plan.offset .. (plan.duplicate and ' 1' or ' 0')
end

-- The plan of an event whose words begin behind ARGV[at].
local function planned(seen, at)
  local id, origin = ARGV[at + 3], ''
  local space = string.find(id, ' ', 1, true)
  if space then
    -- What is no origin stays part of the id, which then is none.
    local text = string.sub(id, space)
    if #text <= 33 and string.find(text, '^ [%w_-]+$') then id, origin = string.sub(id, 1, space - 1), text end
  end
  return {
    log = KEYS[1], meta = KEYS[2], seen = seen, channel = ARGV[1], event = ARGV[at + 1], data = ARGV[at + 2],
    id = id, origin = origin, print = ARGV[at + 4], now_ms = now_ms, log_max = log_max, log_ttl_s = log_ttl_s,
    meta_ttl_s = meta_ttl_s, seen_ttl_s = seen_ttl_s, candidate = candidate, run = ARGV[7], top = ARGV[8],
    epoch = false, offset = false, lasts = false,
  }
end

if #KEYS == 3 then
  local plan, wrong = publish_event(planned(KEYS[3], 1))
  if not plan then return wrong end
  if log_bytes then cut_log(KEYS[1], log_bytes) end
  return told(plan)
end

-- Several: everything is read and checked before the first write.
local epoch, offset = read_position(KEYS[2], ARGV[7], ARGV[8])
if not epoch and offset then return offset end
local plans, may = {}, redis.acl_check_cmd
for n = 1, #KEYS - 2 do
  local plan = planned(KEYS[n + 2], n == 1 and 1 or 4 * n)
  local wrong = check_event(plan.channel, plan.event, plan.data, plan.id, plan.print)
  if not wrong and n == 1 then wrong = check_policy(plan) end
  if not wrong and plan.id ~= NO_ID then
    wrong = recall(plan, epoch)
    if not wrong and not plan.duplicate and may and not may('SET', plan.seen, '') then
      wrong = refuse('NOPERM', 'the Redis user may not run every command of a publish')
    end
  end
  if wrong then return wrong end
  plans[n] = plan
end

local last -- the event published last; its offset is yet to be stored
local begun -- the epoch of the event published first
local first_of = {}

-- Publishes an event behind the last one, unless its id was used earlier in this call. Returns an error reply or nil.
local function add(plan)
  local first = first_of[plan.seen]
  if first and plan.id ~= NO_ID then
    plan.duplicate, plan.epoch, plan.offset, plan.conflict = true, first.epoch, first.offset, first.print ~= plan.print
    return nil
  end
  local before = last and tonumber(last.offset)
  local done, wrong
  if before and before < INTEGER_MAX then
    plan.follows, plan.epoch, plan.offset = true, last.epoch, string.format('%d', before + 1)
    done, wrong = commit_event(plan)
  else
    if last then redis.call('HSET', last.meta, 'offset', last.offset) end
    done, wrong = publish_event(plan)
  end
  if not done then return wrong end
  last, begun, first_of[plan.seen] = plan, begun or plan.epoch, plan
end

local recalled = {} -- the events of known ids that stand before the first one published
for _, plan in ipairs(plans) do
  if plan.duplicate and not last then
    recalled[#recalled + 1] = plan
  elseif not plan.duplicate or plan.epoch ~= last.epoch or tonumber(last.offset) == INTEGER_MAX then
    -- New, or of an epoch that has ended within this call.
    plan.duplicate, plan.conflict = false, false
    local wrong = add(plan)
    if wrong then return wrong end
  end
end
-- The first event may have begun a new epoch, because the log was ahead of the position. Then the ids that were known
-- are of events that are gone, and what came with them is published after all.
for _, plan in ipairs(recalled) do
  if begun and plan.epoch ~= begun then
    plan.duplicate, plan.conflict = false, false
    local wrong = add(plan)
    if wrong then return wrong end
  end
end
if last then redis.call('HSET', last.meta, 'offset', last.offset) end
if log_bytes then cut_log(KEYS[1], log_bytes) end
local answer = {}
for n, plan in ipairs(plans) do answer[n] = told(plan) end
return table.concat(answer, ' ')
