-- The prelude: put textually in front of every script when it is loaded (script = prelude, newline, body).
--
-- It holds what all scripts share: strict readers of ARGV, the reading of a topic's position, and the one way an
-- event is published. Everything here is `local`, so nothing leaks into Redis's shared Lua state.
--
-- Conventions (lua/README.md explains them):
--   * A function that can fail returns `nil, reply`; the body returns that reply to the caller unchanged.
--   * Error replies begin with a code word: BADARG (the caller's mistake), BADKEY (a key holds what it must not),
--     BADEPOCH (the candidate epoch is already in use), or Redis's own word (NOPERM, OOM, READONLY ...).
--   * Nothing is written before everything has been checked; PUBLISH comes last.
--   * Numbers travel as decimal text. Lua numbers are doubles: beyond 2^53 they are wrong without saying so.

local INTEGER_MAX = 9007199254740991 -- 2^53 - 1, the last integer that a double and every JSON reader agree on
local LOG_EVENTS_MAX = 1000000       -- events one log may keep
local TTL_SECONDS_MAX = 315360000    -- ten years; far below what makes EXPIRE overflow
local NO_ID = '-'                    -- "no message id", in ARGV, in the log and in channel messages

-- Set by state_<namespace>.lua, when the namespace has one: `function state()` returns JSON text or false.
local state

-- An error reply whose first word is a code.
local function refuse(code, message)
  return redis.error_reply(code .. ' ' .. message)
end

-- Whether a reply of redis.pcall is an error.
local function failed(reply)
  return type(reply) == 'table' and reply.err ~= nil
end

-- The error to return for a failed read of the key called `name`; Redis's own errors pass through.
local function bad_key(name, reply)
  if string.find(reply.err, '^%-?WRONGTYPE') then return refuse('BADKEY', name .. ' holds another type') end
  return reply
end

-- Reads plain decimal text between `min` and `max`; nil for anything else. `tonumber` alone would also take
-- "nan", "inf", "0x10", "1e3" and " 5".
local function integer(text, min, max)
  if type(text) ~= 'string' or #text > 16 then return nil end
  if text ~= '0' and not string.find(text, '^[1-9][0-9]*$') then return nil end
  local value = tonumber(text)
  if value < min or value > max then return nil end
  return value
end

-- Writes an integer as decimal text; `tostring` would turn 2^53 into 9.007199254741e+15.
local function decimal(value)
  return string.format('%.0f', value)
end

-- The grammars of the wire, the same as the gateway's. Whole patterns, since building one costs an allocation.
local function is_epoch(text)
  return type(text) == 'string' and #text <= 32 and string.find(text, '^[A-Za-z0-9_-]+$') ~= nil
end
local function is_run(text)
  return type(text) == 'string' and #text <= 64 and string.find(text, '^[A-Za-z0-9_-]+%+?$') ~= nil
end
local function is_event(text)
  return type(text) == 'string' and #text <= 64 and string.find(text, '^[A-Za-z0-9._:/-]+$') ~= nil
end
local function is_id(text)
  return type(text) == 'string' and #text <= 128 and string.find(text, '^[A-Za-z0-9._~:-]+$') ~= nil
end

-- The run-id fence. `run` is the run id of the Redis process, with a `+` behind it when every write is on disk before
-- it is answered. Data written in the run `stored` are whole in the run `run` when both are one process, or when both
-- have the `+`: then a restart loses nothing that was answered. Any other restart may have rolled data back.
local function is_whole(stored, run)
  if stored == run then return true end
  if type(stored) ~= 'string' then return false end
  local durable = string.sub(stored, -1) == '+'
  if string.sub(run, -1) == '+' then return durable or stored .. '+' == run end
  return durable and stored == run .. '+'
end

-- Whether the caller knows of a later event of the epoch than the one stored: the data went backwards.
-- `top` is "<epoch> <offset>", or empty or nil when the caller knows none.
local function is_behind(epoch, offset, top)
  if not top or top == '' then return false end
  local known_epoch, known_offset = string.match(top, '^(%S+) ([0-9]+)$')
  if known_epoch ~= epoch then return false end
  known_offset = integer(known_offset, 0, INTEGER_MAX)
  return known_offset ~= nil and known_offset > offset
end

-- Reads a topic's position: epoch (text), offset (number), and whether `run` has to be stored with the next write.
-- Returns nil when the topic has none: the hash is absent or unreadable, its offsets are used up, it was written in
-- another run of Redis whose data may since have been rolled back, or `top`, the last event the caller knows of, is
-- beyond it. The third value is then the epoch that must not be used again, if one is known. Returns nil, reply when
-- the key cannot be read.
local function read_position(meta, run, top)
  local got = redis.pcall('HMGET', meta, 'epoch', 'offset', 'run')
  if failed(got) then return nil, bad_key('meta', got) end
  local offset = integer(got[2], 0, INTEGER_MAX - 1)
  if offset and is_epoch(got[1]) and is_whole(got[3], run) and not is_behind(got[1], offset, top) then
    return got[1], offset, got[3] ~= run
  end
  return nil, nil, got[1]
end

-- Checks that a new epoch may begin: the candidate differs from the epoch it replaces, and the log, which will be
-- deleted because its offsets belong to that epoch, is a log. Returns an error reply or nil.
local function check_new_epoch(keys, candidate, replaced)
  if candidate == replaced then return refuse('BADEPOCH', 'the candidate epoch is the one it must replace') end
  local kind = redis.call('TYPE', keys.log).ok
  if kind ~= 'stream' and kind ~= 'none' then return refuse('BADKEY', 'log holds another type') end
  return nil
end

-- Begins an epoch at `offset` (text). Its first write is HSET, which Redis refuses whole when memory, persistence
-- or replication forbid writing; whatever follows it in the script is no longer refused for those reasons.
-- Returns an error reply or nil.
local function begin_epoch(keys, candidate, offset, run, meta_ttl_s)
  local set = redis.pcall('HSET', keys.meta, 'epoch', candidate, 'offset', offset, 'run', run)
  if failed(set) then return set end
  redis.call('EXPIRE', keys.meta, meta_ttl_s)
  redis.call('DEL', keys.log)
  return nil
end

-- Checks the words of an event; returns an error reply or nil. That the data is JSON was checked where it entered
-- the system; its two outer bytes are checked again, since an event that no gateway can read is a hole for all.
local function check_event(channel, event, data, id)
  if type(channel) ~= 'string' or channel == '' then return refuse('BADARG', 'channel is empty') end
  if not is_event(event) then return refuse('BADARG', 'event is not a name of 1...64 bytes') end
  if type(data) ~= 'string' or string.sub(data, 1, 1) ~= '{' or string.sub(data, -1) ~= '}' or #data < 2 then
    return refuse('BADARG', 'data is not a JSON object')
  end
  if not is_id(id) then return refuse('BADARG', 'id is neither - nor 1...128 allowed bytes') end
  return nil
end

-- Reads what the gateway passes about time, policy and epoch (all text); returns the numbers, or nil, reply.
local function read_policy(opts)
  local policy = {
    now_ms = integer(opts.now_ms, 0, INTEGER_MAX),
    log_max = integer(opts.log_max, 0, LOG_EVENTS_MAX),
    log_ttl_s = integer(opts.log_ttl_s, 1, TTL_SECONDS_MAX),
    meta_ttl_s = integer(opts.meta_ttl_s, 1, TTL_SECONDS_MAX),
    seen_ttl_s = integer(opts.seen_ttl_s, 1, TTL_SECONDS_MAX),
  }
  if not (policy.now_ms and policy.log_max and policy.log_ttl_s and policy.meta_ttl_s and policy.seen_ttl_s) then
    return nil, refuse('BADARG', 'one of now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s is not a number in range')
  end
  if policy.meta_ttl_s < policy.log_ttl_s then
    return nil, refuse('BADARG', 'meta_ttl_s is shorter than log_ttl_s: offsets would be used twice')
  end
  if not is_epoch(opts.epoch) then return nil, refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
  if not is_run(opts.run) then return nil, refuse('BADARG', 'run is not 1...64 allowed bytes') end
  return policy
end

-- The position that message id `id` got before: epoch, offset (text); nil when it is new; nil, reply on failure.
local function read_seen(seen, id)
  if id == NO_ID then return nil end
  local value = redis.pcall('GET', seen)
  if failed(value) then return nil, bad_key('seen', value) end
  if not value then return nil end
  local epoch, offset = string.match(value, '^([A-Za-z0-9_-]+) ([0-9]+)$')
  if not (is_epoch(epoch) and integer(offset, 1, INTEGER_MAX)) then
    return nil, refuse('BADKEY', 'seen does not hold a position')
  end
  return epoch, offset
end

-- Checks, where Redis can tell (7.0 and later), that the ACL user may run every command of `commit_event`: a refusal
-- half-way could not be undone. Asked at the first event of an epoch only. Returns an error reply or nil.
local function check_rights(keys, channel, id)
  local may = redis.acl_check_cmd
  if not may then return nil end
  local all = may('PUBLISH', channel, '') and may('HSET', keys.meta, '', '') and may('EXPIRE', keys.meta, 1)
    and may('DEL', keys.log) and may('XADD', keys.log, '*', '', '') and may('EXPIRE', keys.log, 1)
    and (id == NO_ID or may('SET', keys.seen, ''))
  if not all then return refuse('NOPERM', 'the Redis user may not run every command of a publish') end
  return nil
end

-- First half of publishing: reads and checks everything, writes nothing.
--
-- keys     {log, meta, seen}: names from KEYS. Without a message id `seen` is not touched.
-- channel  the topic's pub/sub channel.
-- event, data, id   the name, one JSON object as text, and the idempotency key or '-'.
-- opts     text: now_ms; log_max (events, 0 keeps no log); log_ttl_s, meta_ttl_s, seen_ttl_s; epoch (the candidate,
--          random, used only if a new epoch must begin); run (of the Redis process the caller talks to, see
--          is_whole); top ("<epoch> <offset>" of the last event the caller knows of, or empty).
--
-- Returns a plan for `commit_event`, or nil, reply. A plan is good until the next write to the same topic. A script
-- that writes keys of its own prepares first, writes, then commits: a commit after a write does not fail.
local function prepare_event(keys, channel, event, data, id, opts)
  local wrong = check_event(channel, event, data, id)
  if wrong then return nil, wrong end
  local policy, bad_policy = read_policy(opts)
  if not policy then return nil, bad_policy end

  local plan = {keys = keys, channel = channel, event = event, data = data, id = id, opts = opts, policy = policy}
  local seen_epoch, seen_offset = read_seen(keys.seen, id)
  if seen_epoch then
    plan.duplicate, plan.epoch, plan.offset = true, seen_epoch, seen_offset
    return plan
  elseif seen_offset then
    return nil, seen_offset
  end

  local epoch, offset, more = read_position(keys.meta, opts.run, opts.top)
  if not epoch and offset then return nil, offset end
  if not epoch or offset == 0 then
    wrong = check_rights(keys, channel, id)
    if wrong then return nil, wrong end
  end
  if epoch then
    plan.epoch, plan.offset, plan.crosses = epoch, decimal(offset + 1), more
    return plan
  end
  wrong = check_new_epoch(keys, opts.epoch, more)
  if wrong then return nil, wrong end
  plan.fresh, plan.epoch, plan.offset = true, opts.epoch, '1'
  return plan
end

-- Appends the plan's event to the log and returns XADD's reply, which may be an error.
local function append(plan)
  return redis.pcall('XADD', plan.keys.log, 'MAXLEN', '=', plan.policy.log_max, plan.offset .. '-0',
    'e', plan.event, 'd', plan.data, 'i', plan.id, 't', plan.opts.now_ms)
end

-- Turns a plan that continues an epoch into one that begins a new one, because the log already holds the offset:
-- the position went backwards. Returns an error reply or nil.
local function renew(plan)
  local wrong = check_new_epoch(plan.keys, plan.opts.epoch, plan.epoch)
  if wrong then return wrong end
  plan.fresh, plan.epoch, plan.offset = true, plan.opts.epoch, '1'
  return nil
end

-- Stores the plan's offset, and the run when the epoch goes on in another one than it was written in.
local function advance(plan, call)
  if plan.crosses then return call('HSET', plan.keys.meta, 'offset', plan.offset, 'run', plan.opts.run) end
  return call('HSET', plan.keys.meta, 'offset', plan.offset)
end

-- Second half of publishing: offset, log, idempotency key, and PUBLISH last.
--
-- The first write decides: if Redis refuses it (OOM, READONLY, MISCONF, wrong type) nothing has changed and the
-- error is returned as nil, reply. Returns the plan with `epoch`, `offset` (text) and `duplicate`.
local function commit_event(plan)
  if plan.duplicate then return plan end
  local keys, policy = plan.keys, plan.policy
  local logged = policy.log_max > 0
  local first
  if not plan.fresh then
    if logged then
      first = append(plan)
    else
      first = advance(plan, redis.pcall)
    end
    if failed(first) and (string.find(first.err, 'equal or smaller', 1, true)
      or string.find(first.err, 'exhausted', 1, true)) then
      local wrong = renew(plan)
      if wrong then return nil, wrong end
    elseif failed(first) then
      return nil, bad_key('log', first)
    end
  end
  if plan.fresh then
    local wrong = begin_epoch(keys, plan.epoch, plan.offset, plan.opts.run, policy.meta_ttl_s)
    if wrong then return nil, wrong end
    if logged then append(plan) end
  else
    if logged then advance(plan, redis.call) end
    redis.call('EXPIRE', keys.meta, policy.meta_ttl_s)
  end
  if logged then redis.call('EXPIRE', keys.log, policy.log_ttl_s) end
  if plan.id ~= NO_ID then
    redis.call('SET', keys.seen, plan.epoch .. ' ' .. plan.offset, 'EX', policy.seen_ttl_s)
  end
  redis.call('PUBLISH', plan.channel,
    'P' .. plan.epoch .. ' ' .. plan.offset .. ' ' .. plan.event .. ' ' .. plan.id .. '\n' .. plan.data)
  return plan
end

-- Publishes one event: `prepare_event` and `commit_event` in one. Returns the plan, or nil, reply.
local function publish_event(keys, channel, event, data, id, opts)
  local plan, wrong = prepare_event(keys, channel, event, data, id, opts)
  if not plan then return nil, wrong end
  return commit_event(plan)
end

-- Reads entries first...last (numbers) of a log, at most `count`: a list of {offset, event, data, id}, all text; from
-- the last to the first when `backwards`. Entries that publish_event did not write are left out. Returns nil, reply
-- when the key is not a log.
local function read_log(log, first, last, count, backwards)
  local entries
  if backwards then
    entries = redis.pcall('XREVRANGE', log, decimal(last) .. '-0', decimal(first) .. '-0', 'COUNT', count)
  else
    entries = redis.pcall('XRANGE', log, decimal(first) .. '-0', decimal(last) .. '-0', 'COUNT', count)
  end
  if failed(entries) then return nil, bad_key('log', entries) end
  local events = {}
  for _, entry in ipairs(entries) do
    local offset = string.match(entry[1], '^([0-9]+)%-0$')
    local fields = entry[2]
    if offset and #fields == 8 and fields[1] == 'e' and fields[3] == 'd' and fields[5] == 'i' then
      events[#events + 1] = {offset, fields[2], fields[4], fields[6]}
    end
  end
  return events
end
