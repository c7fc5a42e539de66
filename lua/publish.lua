-- @summary  Publish one event on a topic: give it the next offset, log it, and send it to every gateway, atomically.
-- @key      log   {topic}#log
-- @key      meta  {topic}#meta
-- @key      seen  {topic}#seen#{id}
-- @returns  {epoch, offset, duplicate}: text, decimal text, 0 or 1
-- @errors   BADARG, BADKEY, BADEPOCH, NOPERM
-- @cost     O(1), and O(n) in the events that a lowered log_max trims
--
-- KEYS[1]   log    stream of recent events, id <offset>-0, fields e (event), d (data), i (id), t (ms)
-- KEYS[2]   meta   hash epoch, offset, run
-- KEYS[3]   seen   string "<epoch> <offset>" that id got before; the meta key again when there is no id
-- ARGV[1]   channel     the topic's pub/sub channel
-- ARGV[2]   event       name, 1...64 bytes
-- ARGV[3]   data        one JSON object, already validated
-- ARGV[4]   id          idempotency key, or -
-- ARGV[5]   now_ms      milliseconds since 1970
-- ARGV[6]   log_max     events kept, 0...1000000, and from 100 on at most 9 more; 0 keeps none, offsets still advance
-- ARGV[7]   log_ttl_s   seconds the log outlives its last event
-- ARGV[8]   meta_ttl_s  seconds the position outlives it; at least log_ttl_s
-- ARGV[9]   seen_ttl_s  seconds a retry is recognised
-- ARGV[10]  epoch       candidate: random, new for every call; used if a new epoch begins
-- ARGV[11]  run         run id of the Redis process (INFO server), and + when every write is synced
-- ARGV[12]  top         "<epoch> <offset>" of the last event the caller knows of, or empty
--
-- A retry with a known id writes and sends nothing and returns the first position with duplicate 1. A new epoch
-- begins, and the old log is deleted, when the position is absent or unreadable, was written in another run of
-- Redis (but for two runs that sync every write), or lags behind the log or `top`. On any error nothing has changed.

if #KEYS ~= 3 or #ARGV ~= 12 then return refuse('BADARG', 'publish takes 3 keys and 12 arguments') end

local plan, wrong = publish_event({
  log = KEYS[1], meta = KEYS[2], seen = KEYS[3], channel = ARGV[1], event = ARGV[2], data = ARGV[3], id = ARGV[4],
  now_ms = ARGV[5], log_max = ARGV[6], log_ttl_s = ARGV[7], meta_ttl_s = ARGV[8], seen_ttl_s = ARGV[9],
  candidate = ARGV[10], run = ARGV[11], top = ARGV[12], epoch = false, offset = false,
})
if not plan then return wrong end
return {plan.epoch, plan.offset, plan.duplicate and 1 or 0}
