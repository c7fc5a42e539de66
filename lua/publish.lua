-- @summary  Publish events on a topic: give each the next offset, log it, and send it to every gateway, atomically.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @key      seen  {topic}#seen#{id}
-- @returns  {epoch, offset, duplicate}: text, decimal text, 0 or 1; the same three again for each further event
-- @errors   BADARG, BADKEY, BADEPOCH, NOPERM
-- @cost     O(n) in the events published, and in those that a lowered log_max trims
-- @weight   50
--
-- KEYS[1]   log    stream of recent events, id <offset>-0, fields e (event), d (data), i (id), t (ms)
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3]   seen   string "<epoch> <offset>" that id got before; the meta key again when there is no id
-- ARGV[1]   channel     the topic's pub/sub channel
-- ARGV[2]   event       name, 1...64 bytes
-- ARGV[3]   data        one JSON object, already validated
-- ARGV[4]   id          idempotency key, or -
-- ARGV[5]   now_ms      milliseconds since 1970
-- ARGV[6]   log_max     events kept, 0...1000000 and from 100 on at most 9 more; 0: none, offsets still advance
-- ARGV[7]   log_ttl_s   seconds the log outlives its last event
-- ARGV[8]   meta_ttl_s  seconds the position outlives it; at least log_ttl_s
-- ARGV[9]   seen_ttl_s  seconds a retry is recognised
-- ARGV[10]  epoch       candidate: random, new for every call; used if a new epoch begins
-- ARGV[11]  run         run id of the Redis process (INFO server), and + when every write is synced
-- ARGV[12]  top         "<epoch> <offset>" of the last event the caller knows of, or empty
-- KEYS[4..]             seen of further events
-- ARGV[13..]            event, data and id of each of them. All events stand or fall together; a further one costs far
--                       less than the first, since position and times to live are written once.
--
-- A retry with a known id writes and sends nothing and returns the first position with duplicate 1. A new epoch
-- begins, and the old log is deleted, when the position is absent or unreadable, was written in another run of
-- Redis (but for two runs that sync every write), or lags behind the log or `top`. On any error nothing has changed.

if #KEYS < 3 or #ARGV ~= 3 * #KEYS + 3 then
  return refuse('BADARG', 'publish takes 3 keys and 12 arguments, and for each further event 1 and 3')
end

-- The plan of an event whose words begin behind ARGV[at].
local function planned(seen, at)
  return {
    log = KEYS[1], meta = KEYS[2], seen = seen, channel = ARGV[1], event = ARGV[at + 1], data = ARGV[at + 2],
    id = ARGV[at + 3], now_ms = ARGV[5], log_max = ARGV[6], log_ttl_s = ARGV[7], meta_ttl_s = ARGV[8],
    seen_ttl_s = ARGV[9], candidate = ARGV[10], run = ARGV[11], top = ARGV[12], epoch = false, offset = false,
  }
end

if #KEYS == 3 then
  local plan, wrong = publish_event(planned(KEYS[3], 1))
  if not plan then return wrong end
  return {plan.epoch, plan.offset, plan.duplicate and 1 or 0}
end

-- Several: everything is read and checked before the first write.
local plans, may = {}, redis.acl_check_cmd
for n = 1, #KEYS - 2 do
  local plan = planned(KEYS[n + 2], n == 1 and 1 or 3 * n + 6)
  local wrong = check_event(plan.channel, plan.event, plan.data, plan.id)
  if not wrong and n == 1 then wrong = check_policy(plan) end
  if wrong then return wrong end
  if plan.id ~= NO_ID then
    local epoch, offset = read_seen(plan.seen)
    if epoch then
      plan.duplicate, plan.epoch, plan.offset = true, epoch, offset
    elseif offset then
      return offset
    elseif may and not may('SET', plan.seen, '') then
      return refuse('NOPERM', 'the Redis user may not run every command of a publish')
    end
  end
  plans[n] = plan
end

local last -- the event published last; its offset is yet to be stored
local first_of, answer = {}, {}
for n, plan in ipairs(plans) do
  local first = first_of[plan.id]
  if first then
    plan.duplicate, plan.epoch, plan.offset = true, first.epoch, first.offset
  elseif not plan.duplicate then
    local offset = last and tonumber(last.offset)
    local done, wrong
    if offset and offset < INTEGER_MAX then
      plan.follows, plan.epoch, plan.offset = true, last.epoch, string.format('%d', offset + 1)
      done, wrong = commit_event(plan)
    else
      if last then redis.call('HSET', last.meta, 'offset', last.offset) end
      done, wrong = publish_event(plan)
    end
    if not done then return wrong end
    last = plan
    if plan.id ~= NO_ID then first_of[plan.id] = plan end
  end
  answer[3 * n - 2], answer[3 * n - 1], answer[3 * n] = plan.epoch, plan.offset, plan.duplicate and 1 or 0
end
if last then redis.call('HSET', last.meta, 'offset', last.offset) end
return answer
