-- The common case of publish.lua: put in front of prelude.lua and publish.lua, in the script `publish` alone.
--
-- Events that go on in their topic's epoch, without an id or with one that is new, are published here. This text takes
-- only what it can tell at a glance to be right. Everything else it leaves to publish.lua behind it, which reads and
-- checks anew: until the first write nothing has changed. What both do is described there and in prelude.lua.
--
-- It makes one function and hardly a table. To make those of the prelude takes longer than all that is done here for an
-- event.

if #KEYS > 2 and #ARGV == 4 * #KEYS + 1 then
  local log, meta, find, call, pcall = KEYS[1], KEYS[2], string.find, redis.call, redis.pcall
  local channel, event, data, word, print, now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s, candidate, run, top =
    unpack(ARGV, 1, 13)
  -- Appends to the log; an error, or with NOMKSTREAM false where the log is gone.
  local function append(add, log, log_max, now_ms, lasts, offset, event, data, id)
    local cuts = #log_max < 3 or string.byte(offset, -1) == 48
    if lasts and cuts then
      return add('XADD', log, 'NOMKSTREAM', 'MAXLEN', '=', log_max, offset .. '-0',
        'e', event, 'd', data, 'i', id, 't', now_ms)
    elseif lasts then
      return add('XADD', log, 'NOMKSTREAM', offset .. '-0', 'e', event, 'd', data, 'i', id, 't', now_ms)
    elseif cuts then
      return add('XADD', log, 'MAXLEN', '=', log_max, offset .. '-0',
        'e', event, 'd', data, 'i', id, 't', now_ms)
    end
    return add('XADD', log, offset .. '-0', 'e', event, 'd', data, 'i', id, 't', now_ms)
  end
  -- As check_policy has it.
  if channel ~= '' and #now_ms < 16 and #log_max < 7 and #log_ttl_s < #meta_ttl_s and #meta_ttl_s < 9
    and #seen_ttl_s < 9 and #candidate < 33 and #event < 65 and #word < 129
    and find(now_ms .. ' ' .. log_max .. ' ' .. log_ttl_s .. ' ' .. meta_ttl_s .. ' ' .. seen_ttl_s .. ' ' .. candidate,
      '^[1-9]%d* [1-9]%d* [1-9]%d* [1-9]%d* [1-9]%d* [%w_-]+$') then
    local got = pcall('HMGET', meta, 'epoch', 'offset', 'run', 'until')
    local epoch, last = got[1], got[2]
    local known, beyond
    if top ~= '' then known, beyond = string.match(top, '^([%w_-]+) (%d+)$') end
    if epoch and last and got[3] == run and #epoch < 33 and #last < 16 and find(last, '^[1-9]%d*$')
      and (known ~= epoch or tonumber(beyond) <= tonumber(last)) then
      -- As in commit_event: whether log and position live on for long enough without being renewed.
      local left = tonumber(got[4])
      left = left and left - now_ms
      local lasts = left and left >= log_ttl_s * 1062.5 and left <= log_ttl_s * 1125 + 1000
      if #KEYS == 3 then
        local offset = string.format('%d', last + 1)
        local message = 'P' .. epoch .. ' ' .. offset .. ' ' .. event .. ' ' .. word .. '\n' .. data
        -- One look at the whole message: epoch, event, id, and that the data begin right behind them as an object.
        local id = word
        local _, at = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ [%w._~:-]+\n{')
        if not at then
          -- The session that does not want it back stands behind the id.
          _, at, id = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ ([%w._~:-]+) [%w_-]+\n{')
          if at and (#word - #id > 33 or string.sub(word, 1, #id + 1) ~= id .. ' ') then at = nil end
        end
        local seen = id ~= '-' and KEYS[3]
        if at == #message - #data + 1 and string.byte(data, -1) == 125
          and (not seen or #print < 65 and find(print, '^%x+$') and pcall('GET', seen) == false) then
          local added = append(pcall, log, log_max, now_ms, lasts, offset, event, data, id)
          if added and not added.err then
            if lasts then
              call('HSET', meta, 'offset', offset)
            else
              local more_s = math.ceil(log_ttl_s / 8)
              call('HSET', meta, 'offset', offset, 'until', string.format('%d', now_ms + (log_ttl_s + more_s) * 1000))
              call('EXPIRE', meta, meta_ttl_s + more_s)
              call('EXPIRE', log, log_ttl_s + more_s)
            end
            if seen then call('SET', seen, epoch .. ' ' .. offset .. ' ' .. print, 'EX', seen_ttl_s) end
            call('PUBLISH', channel, message)
            return {epoch, offset, 0}
          end
        end
      else
        -- Several: each is checked before the first is written.
        local messages, ids, used, may, count = {}, {}, {}, redis.acl_check_cmd, #KEYS - 2
        for n = 1, count do
          -- The first stands before what is said of all, the others behind it.
          local at = n == 1 and 1 or 4 * n + 5
          local event, data, word, print = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
          local offset, id = string.format('%d', last + n), word
          local message = 'P' .. epoch .. ' ' .. offset .. ' ' .. event .. ' ' .. word .. '\n' .. data
          local _, brace = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ [%w._~:-]+\n{')
          if not brace then
            _, brace, id = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ ([%w._~:-]+) [%w_-]+\n{')
            if brace and (#word - #id > 33 or string.sub(word, 1, #id + 1) ~= id .. ' ') then brace = nil end
          end
          if brace ~= #message - #data + 1 or string.byte(data, -1) ~= 125 or #event > 64 or #word > 128 then break end
          if id ~= '-' then
            local seen = KEYS[n + 2]
            if used[seen] or #print > 64 or not find(print, '^%x+$') or pcall('GET', seen) ~= false
              or may and not may('SET', seen, '') then break end
            used[seen] = true
          end
          messages[n], ids[n] = message, id
        end
        local answer, fits = {}, messages[count] ~= nil
        for n = 1, fits and count or 0 do
          local at, offset = n == 1 and 1 or 4 * n + 5, string.format('%d', last + n)
          local event, data, id = ARGV[at + 1], ARGV[at + 2], ids[n]
          local added = append(n == 1 and pcall or call, log, log_max, now_ms, lasts, offset, event, data, id)
          if n == 1 then
            fits = added and not added.err
            if not fits then break end
            if lasts then
              call('HSET', meta, 'offset', offset)
            else
              local more_s = math.ceil(log_ttl_s / 8)
              call('HSET', meta, 'offset', offset, 'until', string.format('%d', now_ms + (log_ttl_s + more_s) * 1000))
              call('EXPIRE', meta, meta_ttl_s + more_s)
              call('EXPIRE', log, log_ttl_s + more_s)
            end
          end
          if id ~= '-' then
            call('SET', KEYS[n + 2], epoch .. ' ' .. offset .. ' ' .. ARGV[at + 4], 'EX', seen_ttl_s)
          end
          call('PUBLISH', channel, messages[n])
          answer[3 * n - 2], answer[3 * n - 1], answer[3 * n] = epoch, offset, 0
        end
        if fits then
          call('HSET', meta, 'offset', answer[3 * count - 1])
          return answer
        end
      end
    end
  end
end
