-- Reads of other topics on a Redis Cluster: put after run.lua in front of @readonly commands there.
--
-- The keys of another topic are another master's, where this script cannot read. What it wants to read is returned in
-- place of an answer: the gateway reads it there, and runs the script again with what it found, as the last of ARGV.
-- The body begins anew each time, so it wants the same until all is there. It may go on without an answer: what it
-- wants beside it is then read at the same time, and its result does not count.

do
  local found_there, asked, is_asked = {}, {}, {}

  if ARGV[#ARGV] ~= '' then
    local answers = cmsgpack.unpack(ARGV[#ARGV])
    for place = 1, #answers, 2 do found_there[answers[place]] = answers[place + 1] end
  end

  -- The answer to a read; nil when it is still to be asked for.
  local function answer(...)
    local words = {...}
    for index, word in ipairs(words) do words[index] = tostring(word) end
    local id = table.concat(words, '\n')
    local found = found_there[id]
    if found == nil and not is_asked[id] then
      is_asked[id] = true
      asked[#asked + 1] = words
    end
    return found
  end

  elsewhere = {
    asked = asked,
    -- What `read` returns for keys of other topics: the reply, or the error; nil when it is still to be asked for.
    read = function(command, ...)
      if command ~= 'MGET' then return answer(command, ...) end
      local found, is_whole = {}, true
      for index, name in ipairs({...}) do
        found[index] = answer('GET', name)
        if found[index] == nil then found[index], is_whole = false, false end
        -- As with MGET, what is no string has no value.
        if type(found[index]) == 'table' then found[index] = false end
      end
      if is_whole then return found end
    end,
  }
end
