-- The prelude: put in front of every script when it is loaded (script = prelude, newline, body). All scripts share
-- its strict readers of ARGV, the reading of a topic's position, and the one way an event is published. Everything is
-- `local`, so nothing leaks into Redis's shared Lua state. docs/scripts/packs.md explains its conventions and `@only`.
-- All functions are made anew for each call, which costs Redis a thousand instructions each, as does a pattern or a
-- table.

local INTEGER_MAX = 9007199254740991 -- 2^53 - 1, the last integer that a double and every JSON reader agree on
local LOG_EVENTS_MAX = 1000000       -- events one log may keep
local TTL_SECONDS_MAX = 315360000    -- ten years; far below what makes EXPIRE overflow
local SEND = 'PUBLISH'               -- to a topic's channel; SPUBLISH where the script is loaded into a cluster
local NO_ID = '-'                    -- "no message id", in ARGV, in the log and in channel messages

-- Set by state_<namespace>.lua, when the namespace has one: `function state()` returns JSON text or false. A caller may
-- add arguments to those of such a script: `decide` of command.lua is told who asks, for @subscribe.
local state, own_arguments = nil, 0

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

-- Reads plain decimal text from `min` to `max`; nil for anything else, such as "nan", "0x10", "1e3" and " 5".
local function integer(text, min, max)
  if type(text) ~= 'string' or #text > 16 then return nil end
  if text ~= '0' and not string.find(text, '^[1-9]%d*$') then return nil end
  local value = tonumber(text)
  if value < min or value > max then return nil end
  return value
end

-- @only decimal
-- Writes an integer as decimal text; `tostring` would turn 2^53 into 9.007199254741e+15.
local function decimal(value)
  -- %d takes a double below 2^53 exactly, at half the cost.
  if value % 1 == 0 and value < INTEGER_MAX and value > -INTEGER_MAX then return string.format('%d', value) end
  return string.format('%.0f', value)
end
-- @end

-- Redis keeps the C locale for the classes of patterns: %w is A-Z a-z 0-9.
local function is_event(text)
  return type(text) == 'string' and #text <= 64 and string.find(text, '^[%w._:/-]+$') ~= nil
end

local function epochs() -- what is needed where epochs begin and end: made when it is called for
  local function fits(text, bytes_max, pattern)
    return type(text) == 'string' and #text <= bytes_max and string.find(text, pattern) ~= nil
  end
  local function fits_epoch(text) return fits(text, 32, '^[%w_-]+$') end
  local function fits_run(text) return fits(text, 512, '^[%w_-]+%+?[%w_/-]*$') end
  local function fits_id(text) return fits(text, 128, '^[%w._~:-]+$') end
  -- The run that is stored: what stands before the first `/` of a run.
  local function own_run(run) return string.match(run, '^[^/]*') end
  -- Whether a position, stored in the run `stored` of Redis, can be gone on with in the run `run`.
  -- `run` is the fence (packs.md): the history of the server's writes, `+` when none of them can be lost, the
  -- generation (seal.lua), and behind a `/` each older history that the caller has proof of. Data are whole in one
  -- history, and in two with the `+` and one generation. Any other may have rolled data back. So have data whose epoch
  -- had a later event than is stored: `top`, "<epoch> <offset>", or empty or nil when the caller knows none.
  local function is_whole(stored, run, epoch, offset, top)
    if stored ~= run then
      if type(stored) ~= 'string' then return false end
      local parts = '^([%w_-]+)(%+?)([%w_-]*)$'
      local writer, plus, since = string.match(stored, parts)
      local own_writer, own_plus, own_since = string.match(own_run(run), parts)
      if writer and writer == own_writer then
        -- In one process the `+` may come and go. Its writes from before the doubt count no longer.
        if plus == '+' and own_since ~= since and own_since ~= ''
          and own_since == string.sub(own_writer, 1, #own_since) then return false end
      elseif not (plus == '+' and own_plus == '+' and since == own_since)
        and not string.find(run .. '/', '/' .. stored .. '/', 1, true) then return false end
    end
    if not top or top == '' then return true end
    local known_epoch, known_offset = string.match(top, '^([%w_-]+) (%d+)$')
    if known_epoch ~= epoch then return true end
    known_offset = tonumber(known_offset)
    return known_offset <= offset or known_offset > INTEGER_MAX
  end

  -- Checks that a new epoch may begin: the candidate differs from the epoch it replaces, and the log, which will be
  -- put away because its offsets belong to that epoch, is a log. Returns an error reply or nil.
  local function may_begin(keys, candidate, replaced)
    if candidate == replaced then return refuse('BADEPOCH', 'the candidate epoch is the one it must replace') end
    local kind = redis.call('TYPE', keys.log).ok
    if kind ~= 'stream' and kind ~= 'none' then return refuse('BADKEY', 'log holds another type') end
  end

  -- Begins an epoch at `offset` (text). Its first write is HSET, which Redis refuses whole when memory, persistence or
  -- replication forbid writing; what follows it is no longer refused for those reasons. `until_ms` is when the log's
  -- life ends, '0' for who writes no log. Returns an error reply or nil.
  -- The ended epoch's log becomes the past log for the rest of its life: couriers may not have sent all of it.
  -- `past` in meta is that epoch, its end (`now_ms`) and the epoch that stood there before.
  local function begin(keys, candidate, offset, run, meta_ttl_s, until_ms, now_ms)
    local words = {'HSET', keys.meta, 'epoch', candidate, 'offset', offset, 'run', own_run(run), 'until', until_ms}
    local was, past = redis.call('HMGET', keys.meta, 'epoch', 'offset', 'past'), keys.log .. '-past'
    local ended = fits_epoch(was[1]) and integer(was[2], 1, INTEGER_MAX)
    if ended then
      local before = string.match(was[3] or '', '^%S+')
      words[11], words[12] = 'past', string.format('%s %.0f', was[1], now_ms) .. (before and ' ' .. before or '')
    end
    local set = redis.pcall(unpack(words))
    if failed(set) then return set end
    redis.call('EXPIRE', keys.meta, meta_ttl_s)
    -- There may be no log, or the Redis user may not rename it.
    if not ended then
      redis.call('DEL', keys.log)
    elseif failed(redis.pcall('RENAME', keys.log, past)) then
      redis.call('DEL', keys.log, past)
    end
  end

  return fits_epoch, fits_run, fits_id, is_whole, own_run, may_begin, begin
end

-- @only is_epoch is_run is_id check_new_epoch begin_epoch
local is_epoch, is_run, is_id, _, _, check_new_epoch, begin_epoch = epochs()
-- @end

-- Reads a topic's position: epoch (text), offset (number), whether the own part of `run` has to be stored with the next
-- write, and when the log's life ends (text or false). Returns nil when there is none, its offsets are used up, or it
-- is not whole, and third the epoch that must not be used again. Returns nil, reply when the key cannot be read.
local function read_position(meta, run, top)
  local got = redis.pcall('HMGET', meta, 'epoch', 'offset', 'run', 'until')
  local epoch, offset = got[1], got[2]
  -- Nearly always one look is enough.
  if epoch and offset and got[3] == run and #epoch < 33 and #offset < 16 and string.find(offset, '^[1-9]%d*$')
    and string.find(epoch, '^[%w_-]+$') then
    offset = tonumber(offset)
    local known, beyond
    if top and top ~= '' then known, beyond = string.match(top, '^([%w_-]+) (%d+)$') end
    if known ~= epoch or tonumber(beyond) <= offset then return epoch, offset, false, got[4] end
  end
  if failed(got) then return nil, bad_key('meta', got) end
  local fits_epoch, _, _, is_whole, own_run = epochs()
  offset = integer(got[2], 0, INTEGER_MAX - 1)
  if offset and fits_epoch(epoch) and is_whole(got[3], run, epoch, offset, top) then
    return epoch, offset, got[3] ~= run and got[3] ~= own_run(run), got[4]
  end
  return nil, nil, epoch
end

-- Whether a log lives on for long enough without being renewed, and its position with it; `ends` is what meta says.
local function is_lasting(ends, now_ms, log_ttl_s)
  local left = tonumber(ends)
  left = left and left - now_ms
  return left and inline.lasts(left, log_ttl_s)
end

-- Logs an event by XADD. Returns its reply: an error, or false where a log that is not renewed is gone: a new one would
-- stay for ever. To cut it costs as much as all the rest of an event, so a long log is cut at every tenth offset.
local function log_event(log, lasts, log_max, offset, event, data, id, now_ms)
  local cuts, place = inline.cuts(log_max, offset), offset .. '-0'
  if lasts and cuts then
    return redis.pcall('XADD', log, 'NOMKSTREAM', 'MAXLEN', '=', log_max, place, inline.entry(event, data, id, now_ms))
  elseif lasts then
    return redis.pcall('XADD', log, 'NOMKSTREAM', place, inline.entry(event, data, id, now_ms))
  elseif cuts then
    return redis.pcall('XADD', log, 'MAXLEN', '=', log_max, place, inline.entry(event, data, id, now_ms))
  end
  return redis.pcall('XADD', log, place, inline.entry(event, data, id, now_ms))
end

-- @only cut_log
-- Takes the oldest events from a log until it fits into so many bytes of Redis, but for the newest one. A look costs a
-- step for each node of the log, so it takes as many as would do if all were of one size, and at most twice as many as
-- the last one. Without `bytes_max` it reads a bound, `EVENTS:BYTESb`: returns events (text) and bytes.
local function cut_log(log, bytes_max)
  local events, bytes = string.match(log, '^([1-9]%d*):([1-9]%d*)b$')
  if not bytes_max then return events, events and #bytes < 16 and tonumber(bytes) end
  local most, cut = 1, 1
  while type(cut) == 'number' and cut > 0 do
    local used, length = redis.pcall('MEMORY', 'USAGE', log, 'SAMPLES', 0), redis.call('XLEN', log)
    if type(used) ~= 'number' or used <= bytes_max then return end -- or the Redis user may not ask
    local more = math.min(most, math.ceil(length * (1 - bytes_max / used)), length - 1)
    cut, most = redis.pcall('XTRIM', log, 'MAXLEN', '=', decimal(length - more)), 2 * most
  end
end
-- @end

-- Stores the offset of a logged event, and renews the lives of log and position unless they last: a renewed log and its
-- position live longer than promised, and both are renewed when half of that is used up, so most events renew nothing.
-- `until` in meta is when the log's life ends, ms since 1970; 0: no log.
local function keep_offset(meta, log, offset, lasts, now_ms, log_ttl_s, meta_ttl_s)
  if lasts then return redis.call('HSET', meta, 'offset', offset) end
  local more_s = inline.spare(log_ttl_s)
  redis.call('HSET', meta, 'offset', offset, 'until', string.format('%d', now_ms + (log_ttl_s + more_s) * 1000))
  redis.call('EXPIRE', meta, meta_ttl_s + more_s)
  redis.call('EXPIRE', log, log_ttl_s + more_s)
end

-- What publishes in full: `publish_event`, and for those that do it in two halves `commit_event`, `check_event`,
-- `check_policy` and `recall`. All of it is made when it is called for: most events need nothing of it.
local function publishing()
  local fits_epoch, fits_run, fits_id, _, own_run, may_begin, begin = epochs()

  -- Checks the words of an event; returns an error reply or nil. That the data is JSON was checked where it entered;
  -- its two outer bytes are checked again, since an event that no gateway can read is a hole for all.
  local function check_event(channel, event, data, id, print)
    if type(channel) ~= 'string' or channel == '' then return refuse('BADARG', 'channel is empty') end
    if not is_event(event) then return refuse('BADARG', 'event is not a name of 1...64 bytes') end
    if type(data) ~= 'string' or string.byte(data) ~= 123 or string.byte(data, -1) ~= 125 then
      return refuse('BADARG', 'data is not a JSON object')
    end
    if id == NO_ID then return end
    if not fits_id(id) then return refuse('BADARG', 'id is neither - nor 1...128 allowed bytes') end
    if type(print) ~= 'string' or #print > 64 or not string.find(print, '^%x+$') then
      return refuse('BADARG', 'print is not 1...64 hexadecimal digits')
    end
  end

  -- Checks what the gateway passes about time, policy and epoch (see prepare_event); returns an error reply or nil.
  local function check_policy(plan)
    local log_ttl_s, meta_ttl_s = plan.log_ttl_s, plan.meta_ttl_s
    -- Nearly always one look tells enough: each is an integer that cannot be out of range, and more digits are more.
    if not (string.find(plan.now_ms .. ' ' .. plan.log_max .. ' ' .. log_ttl_s .. ' ' .. meta_ttl_s .. ' '
      .. plan.seen_ttl_s, '^[1-9]%d* [1-9]%d* [1-9]%d* [1-9]%d* [1-9]%d*$') and #plan.now_ms < 16 and #plan.log_max < 7
      and #log_ttl_s < #meta_ttl_s and #meta_ttl_s < 9 and #plan.seen_ttl_s < 9) then
      local shorter, longer = integer(log_ttl_s, 1, TTL_SECONDS_MAX), integer(meta_ttl_s, 1, TTL_SECONDS_MAX)
      if not (integer(plan.now_ms, 0, INTEGER_MAX) and integer(plan.log_max, 0, LOG_EVENTS_MAX) and shorter and longer
        and integer(plan.seen_ttl_s, 1, TTL_SECONDS_MAX)) then
        return refuse('BADARG', 'one of now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s is not a number in range')
      end
      if longer < shorter then
        return refuse('BADARG', 'meta_ttl_s is shorter than log_ttl_s: offsets would be used twice')
      end
    end
    if not fits_epoch(plan.candidate) then return refuse('BADARG', 'epoch is not 1...32 allowed bytes') end
  end

  -- Looks up a plan's id, and marks the plan when it must not be published: `duplicate`, with the first position, and
  -- `conflict` as well when the id was used for another event or other data. An id counts only in `epoch`, the one the
  -- topic is in (nil: none): an event of an ended epoch is published again. Returns an error reply or nil.
  local function recall(plan, epoch)
    local value = redis.pcall('GET', plan.seen)
    if failed(value) then return bad_key('seen', value) end
    if not value then return nil end
    local seen_epoch, seen_offset, print = string.match(value, '^([%w_-]+) (%d+) (%x+)$')
    if not (fits_epoch(seen_epoch) and integer(seen_offset, 1, INTEGER_MAX)) then
      return refuse('BADKEY', 'seen does not hold a position and a fingerprint')
    end
    if seen_epoch ~= epoch then return nil end
    plan.duplicate, plan.epoch, plan.offset, plan.conflict = true, seen_epoch, seen_offset, print ~= plan.print
  end

  -- Checks, from Redis 7.0 on, that the user may run every command of `commit_event`: a refusal half-way could not be
  -- undone. After the first event of an epoch it asks for the send alone. Returns an error reply.
  local function check_rights(plan, is_first)
    local may = redis.acl_check_cmd
    if not may then return nil end
    local all = may(SEND, plan.channel, '') and (not is_first or may('HSET', plan.meta, '', '')
      and may('EXPIRE', plan.meta, 1) and may('DEL', plan.log) and may('XADD', plan.log, '*', '', '')
      and may('EXPIRE', plan.log, 1) and (plan.id == NO_ID or may('SET', plan.seen, '')))
    if not all then return refuse('NOPERM', 'the Redis user may not run every command of a publish') end
  end

  -- Turns a plan into one that begins a new epoch, in place of `replaced`. Returns an error reply or nil.
  local function renew(plan, replaced)
    local wrong = may_begin(plan, plan.candidate, replaced)
    if wrong then return wrong end
    plan.fresh, plan.epoch, plan.offset = true, plan.candidate, '1'
  end

  -- First half of publishing: reads and checks everything, writes nothing.
  -- plan     one table, made whole by the caller, since a table that grows is made anew. All text: keys and words of
  --          publish.lua by their names there, `candidate` being its epoch; and
  --   origin   a space and the session that does not want the event back, or nothing; `publish` alone has one.
  --   trusted  true where the gateway has made the numbers and the candidate, and nobody else can have.
  --   epoch, offset, lasts  false; set here.
  --
  -- Returns the plan for `commit_event`, or nil, reply. A plan is good until the next write to the same topic.
  local function prepare_event(plan)
    local wrong = check_event(plan.channel, plan.event, plan.data, plan.id, plan.print)
      or not plan.trusted and check_policy(plan)
    if wrong then return nil, wrong end
    local epoch, offset, more, ends = read_position(plan.meta, plan.run, plan.top)
    if not epoch and offset then return nil, offset end
    if plan.id ~= NO_ID then
      wrong = recall(plan, epoch)
      if wrong then return nil, wrong end
      if plan.duplicate then return plan end
    end
    -- A run that is stored already was checked before.
    if (not epoch or more) and not fits_run(plan.run) then
      return nil, refuse('BADARG', 'run is not 1...512 allowed bytes')
    end
    wrong = check_rights(plan, not epoch or offset == 0)
    if wrong then return nil, wrong end
    if epoch then
      plan.epoch, plan.offset = epoch, string.format('%d', offset + 1)
      if more then plan.crosses = true end
      plan.lasts = offset > 0 and plan.log_max ~= '0' and is_lasting(ends, plan.now_ms, plan.log_ttl_s)
      return plan
    end
    wrong = renew(plan, more)
    if wrong then return nil, wrong end
    return plan
  end

  -- Makes the first write of a plan that continues its epoch, or logs the event of a new one. Returns its reply.
  local function append(plan)
    local log, lasts, most = plan.log, plan.lasts, plan.log_max
    if most == '0' then return redis.pcall('HSET', plan.meta, 'offset', plan.offset, 'run', own_run(plan.run)) end
    local added = log_event(log, lasts, most, plan.offset, plan.event, plan.data, plan.id, plan.now_ms)
    if added then return added end
    plan.lasts = false
    return append(plan)
  end

  -- Second half of publishing: offset, log, idempotency key, and PUBLISH last.
  --
  -- If Redis refuses the first write (OOM, READONLY, MISCONF, wrong type) nothing has changed: nil and the error are
  -- returned, otherwise the plan with `epoch`, `offset` (text) and `duplicate`. A plan that `follows` continues the one
  -- committed just before in this script: its epoch and offset are given, and the caller stores the last offset.
  local function commit_event(plan)
    if plan.duplicate then return plan end
    if not plan.fresh then
      local first = append(plan)
      if failed(first) then
        -- When the log already holds the offset, the position went backwards.
        local why = first.err
        if not (string.find(why, 'equal or smaller', 1, true) or string.find(why, 'exhausted', 1, true)) then
          return nil, bad_key('log', first)
        end
        local wrong = renew(plan, plan.epoch)
        if wrong then return nil, wrong end
      end
    end
    -- Lives are renewed by the first event of a call, unless they last.
    local more_s, ends
    if plan.fresh or not (plan.follows or plan.lasts) then
      more_s = inline.spare(plan.log_ttl_s)
      ends = plan.log_max == '0' and '0' or string.format('%d', plan.now_ms + (plan.log_ttl_s + more_s) * 1000)
    end
    if plan.fresh then
      local wrong = begin(plan, plan.epoch, plan.offset, plan.run, plan.meta_ttl_s + more_s, ends, plan.now_ms)
      if wrong then return nil, wrong end
      append(plan)
    elseif more_s then
      redis.call('HSET', plan.meta, 'offset', plan.offset, 'run', own_run(plan.run), 'until', ends)
      redis.call('EXPIRE', plan.meta, plan.meta_ttl_s + more_s)
    elseif not plan.follows then
      if plan.crosses then
        redis.call('HSET', plan.meta, 'offset', plan.offset, 'run', own_run(plan.run))
      else
        redis.call('HSET', plan.meta, 'offset', plan.offset)
      end
    end
    if more_s and plan.log_max ~= '0' then redis.call('EXPIRE', plan.log, plan.log_ttl_s + more_s) end
    if plan.id ~= NO_ID then
      redis.call('SET', plan.seen, plan.epoch .. ' ' .. plan.offset .. ' ' .. plan.print, 'EX', plan.seen_ttl_s)
    end
    redis.call(SEND, plan.channel,
      inline.message(plan.epoch, plan.offset, plan.event, plan.id .. (plan.origin or ''), plan.data))
    return plan
  end

  -- Publishes one event: `prepare_event` and `commit_event` in one. Returns the plan, or nil, reply.
  local function publish_event(plan)
    local prepared, wrong = prepare_event(plan)
    if not prepared then return nil, wrong end
    return commit_event(plan)
  end

  return publish_event, commit_event, check_event, check_policy, recall, prepare_event
end

-- @only read_log
-- Reads entries first...last (numbers) of a log, at most `count`: a list of {offset, event, data, id}, all text,
-- from the last to the first when `backwards`, without entries that publish_event did not write; and the offset of the
-- entry read last, nil when there was none. Returns nil, reply when the key is not a log.
local function read_log(log, first, last, count, backwards)
  if backwards then first, last = last, first end
  local entries = redis.pcall(
    backwards and 'XREVRANGE' or 'XRANGE', log, decimal(first) .. '-0', decimal(last) .. '-0', 'COUNT', count)
  if failed(entries) then return nil, bad_key('log', entries) end
  local events, count, sub = {}, 0, string.sub
  for _, entry in ipairs(entries) do
    local id, fields = entry[1], entry[2]
    if #fields == 8 and fields[1] == 'e' and fields[3] == 'd' and fields[5] == 'i' and sub(id, -2) == '-0' then
      count = count + 1
      events[count] = {sub(id, 1, -3), fields[2], fields[4], fields[6]}
    end
  end
  return events, #entries > 0 and tonumber(string.match(entries[#entries][1], '^%d+')) or nil
end
-- @end
