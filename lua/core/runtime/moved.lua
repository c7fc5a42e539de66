-- The time of tests: put after run.lua by `switchboard test`, where now_ms is not the time of Redis.
--
-- A write may name the moment at which its key ends. That moment is moved by as much as the two clocks differ, so the
-- key lives as long as the script wants it to.
do
  local commit_all = commit
  -- The words of a write that name a moment in seconds, and those that name the same in milliseconds.
  local IN_MS = {EXPIREAT = 'PEXPIREAT', PEXPIREAT = 'PEXPIREAT', EXAT = 'PXAT', PXAT = 'PXAT'}

  -- Moves the moment that stands at `at`; `place` is where its word stands.
  local function move(words, place, at)
    local time = redis.call('TIME')
    local ahead_ms = now_ms - (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
    local moment_ms = tonumber(words[at]) * (IN_MS[words[place]] == words[place] and 1 or 1000)
    words[place] = IN_MS[words[place]]
    -- A moment that has passed ends the key at once, as it does in Redis.
    words[at] = string.format('%.0f', math.max(1, moment_ms - ahead_ms))
  end

  function commit()
    for _, words in ipairs(queued) do
      if words[1] == 'EXPIREAT' or words[1] == 'PEXPIREAT' then move(words, 1, 3) end
      for place = 4, words[1] == 'SET' and #words - 1 or 0 do
        if words[place] == 'EXAT' or words[place] == 'PXAT' then move(words, place, place + 1) end
      end
    end
    return commit_all()
  end
end
