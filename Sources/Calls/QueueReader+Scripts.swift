/// The reads, each in one call; time is Redis's own.
extension QueueReader {
    /// KEYS: streams; ARGV: the number of the first ones whose last entry is wanted.
    ///
    /// For each: entries, age of the oldest in ms, time of the last in ms, and its field `reason`.
    static let streamsScript: StaticString = """
        local time, all = redis.call('TIME'), {}
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        for index, key in ipairs(KEYS) do
          local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
          local last = index <= tonumber(ARGV[1]) and redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
          local reason = ''
          for place = 1, last and #last[2] or 0, 2 do
            if last[2][place] == 'reason' then reason = string.sub(last[2][place + 1], 1, 500) end
          end
          all[index] = {redis.call('XLEN', key), first and math.max(0, now - string.match(first[1], '^%d+')) or 0,
            last and tonumber(string.match(last[1], '^%d+')) or 0, reason}
        end
        return all
        """

    /// KEYS: the sorted set of workers, and the hash of leases.
    ///
    /// Name and number of partitions in turn.
    static let workersScript: StaticString = """
        local time, all = redis.call('TIME'), {}
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local held, leases = {}, redis.call('HGETALL', KEYS[2])
        for index = 1, #leases, 2 do
          local name, ends = string.match(leases[index + 1], '^(%S+) %d+ (%d+)$')
          if name and tonumber(ends) > now then held[name] = (held[name] or 0) + 1 end
        end
        for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')) do
          all[#all + 1] = name
          all[#all + 1] = held[name] or 0
        end
        return all
        """

    /// KEYS: the hash of couriers' figures.
    ///
    /// The time in ms, and the hash.
    static let webhooksScript: StaticString = """
        local time = redis.call('TIME')
        local all = redis.call('HGETALL', KEYS[1])
        table.insert(all, 1, time[1] * 1000 + math.floor(time[2] / 1000))
        return all
        """
}
