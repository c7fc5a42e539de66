-- The common case of publish.lua: put in front of prelude.lua and publish.lua, in the script `publish` alone.
--
-- Events that go on in their topic's epoch, without an id or with one that is new, are published here. This text takes
-- only what it can tell at a glance to be right. Everything else it leaves to publish.lua behind it, which reads and
-- checks anew: until the first write nothing has changed. What both do is described there and in prelude.lua.
--
-- It makes no function and hardly a table: to make those of the prelude takes longer than all that is done here for an
-- event.

if #KEYS > 2 and #ARGV == 4 * #KEYS - 4 then
  local log, meta, find, call, pcall = KEYS[1], KEYS[2], string.find, redis.call, redis.pcall
  local channel, event, data, word, print, terms, run, top = unpack(ARGV, 1, 8)
  local now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s, candidate_at =
    string.match(terms, '^([1-9]%d*) (%d+) ([1-9]%d*) ([1-9]%d*) ([1-9]%d*) ()[%w_-]+$')
  -- As check_policy has it.
  if now_ms and channel ~= '' and #now_ms < 16 and #log_max < 7 and (string.byte(log_max) > 48 or log_max == '0')
    and #log_ttl_s < #meta_ttl_s and #meta_ttl_s < 9 and #seen_ttl_s < 9 and #terms - candidate_at < 32 then
    local got = pcall('HMGET', meta, 'epoch', 'offset', 'run', 'until')
    local epoch, last = got[1], got[2]
    local known, beyond
    if top ~= '' then known, beyond = string.match(top, '^([%w_-]+) (%d+)$') end
    if epoch and last and got[3] == run and #epoch < 33 and #last < 16 and find(last, '^[1-9]%d*$')
      and (known ~= epoch or tonumber(beyond) <= tonumber(last)) then
      -- Whether log and position live on for long enough without being renewed; commit_event renews them.
      local left = tonumber(got[4])
      left = left and left - now_ms
      local lasts = log_max ~= '0' and left and inline.lasts(left, log_ttl_s)
      local count, fits, offset, id, message, messages, ids, used = #KEYS - 2, true
      -- A right may be lost at any time, and an event that was logged could not be taken back.
      local may = redis.acl_check_cmd
      if may and not may('PUBLISH', channel, '') then count = 0 end
      if count > 1 then messages, ids, used = {}, {}, {} end
      -- Each event is checked before the first is written.
      for n = 1, count do
        if n > 1 then event, data, word, print = unpack(ARGV, 4 * n + 1, 4 * n + 4) end
        offset, id = string.format('%d', last + n), word
        message = inline.message(epoch, offset, event, word, data)
        -- One look at the whole message: epoch, event, id, and that the data begin right behind them as an object.
        local _, brace = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ [%w._~:-]+\n{')
        if not brace then
          -- The session that does not want it back stands behind the id.
          _, brace, id = find(message, '^P[%w_-]+ %d+ [%w._:/-]+ ([%w._~:-]+) [%w_-]+\n{')
          if brace and (#word - #id > 33 or string.sub(word, 1, #id + 1) ~= id .. ' ') then brace = nil end
        end
        fits = brace == #message - #data + 1 and string.byte(data, -1) == 125 and #event < 65 and #word < 129
        if fits and id ~= '-' then
          local seen = KEYS[n + 2]
          fits = #print < 65 and find(print, '^%x+$') and pcall('GET', seen) == false
          if used then
            fits = fits and not used[seen] and not (may and not may('SET', seen, ''))
            used[seen] = true
          end
        end
        if not fits then break end
        if messages then messages[n], ids[n] = message, id end
      end
      local answer = messages and {}
      for n = 1, fits and count or 0 do
        if messages then
          -- The first stands before what is said of all, the others behind it.
          local at = n == 1 and 1 or 4 * n
          event, data, print = ARGV[at + 1], ARGV[at + 2], ARGV[at + 4]
          offset, id, message = string.format('%d', last + n), ids[n], messages[n]
        end
        -- `added` is an error (a table), or false where the log is gone; log_event would begin another log.
        local add, cuts, place, added = n == 1 and pcall or call, inline.cuts(log_max, offset), offset .. '-0', nil
        if log_max == '0' then
          -- No log: to store the position is the first write, and nothing else would tell that it is gone.
          added = n == 1 and add('HSET', meta, 'offset', offset, 'until', '0')
        elseif lasts and cuts then
          added = add('XADD', log, 'NOMKSTREAM', 'MAXLEN', '=', log_max, place, inline.entry(event, data, id, now_ms))
        elseif lasts then
          added = add('XADD', log, 'NOMKSTREAM', place, inline.entry(event, data, id, now_ms))
        elseif cuts then
          added = add('XADD', log, 'MAXLEN', '=', log_max, place, inline.entry(event, data, id, now_ms))
        else
          added = add('XADD', log, place, inline.entry(event, data, id, now_ms))
        end
        if n == 1 then
          fits = added and type(added) ~= 'table'
          if not fits then break end
          if lasts then
            call('HSET', meta, 'offset', offset)
          else
            local more_s = inline.spare(log_ttl_s)
            if log_max ~= '0' then
              call('HSET', meta, 'offset', offset, 'until', string.format('%d', now_ms + (log_ttl_s + more_s) * 1000))
              call('EXPIRE', log, log_ttl_s + more_s)
            end
            call('EXPIRE', meta, meta_ttl_s + more_s)
          end
        end
        if id ~= '-' then call('SET', KEYS[n + 2], epoch .. ' ' .. offset .. ' ' .. print, 'EX', seen_ttl_s) end
        call('PUBLISH', channel, message)
        local told = epoch .. ' ' .. offset .. ' 0'
        if not answer then return told end
        answer[n] = told
      end
      if answer and fits then
        call('HSET', meta, 'offset', offset)
        return table.concat(answer, ' ')
      end
    end
  end
end
