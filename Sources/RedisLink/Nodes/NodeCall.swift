public import Core

/// The single call by which a process announces itself and reads Redis's time and the other live processes.
///
/// The script is not among those of `lua/core`, since couriers have none of them. It returns the time even when it
/// cannot write.
public struct NodeCall: Sendable {
    /// The answer.
    public struct Answer: Equatable, Sendable {
        /// Redis's time, milliseconds since 1970.
        public let timeMs: Int
        /// The other live processes.
        public let others: [NodeEntry]

        /// Reads a reply; `nil` for any other reply.
        public init?(_ reply: RESPValue) {
            guard let parts = reply.elements, parts.count == 2, let words = parts[1].elements,
                let timeMs = parts[0].bytes.flatMap({ ASCII.decimal($0) })
            else { return nil }
            self.timeMs = timeMs
            others = stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
                guard let name = words[index].bytes, let text = words[index + 1].bytes else { return nil }
                return NodeEntry(name: name, text)
            }
        }
    }

    /// Writes an entry that is valid for `keepMs` milliseconds; 0 removes it.
    ///
    /// Without an entry it only reads.
    public static func call(_ keys: Keys, _ entry: NodeEntry?, keepMs: Int) -> RedisCall {
        var call = RedisCall("EVAL")
        call.append(script)
        call.append(decimal: 1)
        call.append(keys.nodes)
        call.append(entry?.name ?? [])
        call.append(decimal: entry == nil ? 0 : keepMs)
        call.append(entry?.text ?? [])
        return call
    }

    /// KEYS: the hash from the process's name to the end in ms since 1970, a space, and the entry.
    ///
    /// ARGV: the process's name, or nothing; how long its entry is valid, ms; the entry.
    ///
    /// Time is Redis's own. An entry that ends more than a day ahead was written before that clock went back, and has
    /// expired. At most 256 entries are kept; a hash of far more was not filled by our processes and is deleted.
    private static let script: StaticString = """
        local time = redis.call('TIME')
        local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
        local size = redis.pcall('HLEN', KEYS[1])
        if type(size) == 'number' and size > 1024 then redis.pcall('DEL', KEYS[1]) end
        local told = redis.pcall('HGETALL', KEYS[1])
        if told.err then return {string.format('%.0f', now), {}} end
        local live, over = {}, {}
        for index = 1, #told, 2 do
          local ends, entry = string.match(told[index + 1], '^(%d+) (.+)$')
          ends = tonumber(ends)
          if not ends or ends <= now or ends > now + 86400000 then
            over[#over + 1] = told[index]
          elseif told[index] ~= ARGV[1] then
            live[#live + 1] = told[index]
            live[#live + 1] = entry
          end
        end
        local keep = tonumber(ARGV[2])
        if ARGV[1] ~= '' then
          if keep == 0 then over[#over + 1] = ARGV[1] end
          if #over > 0 then redis.pcall('HDEL', KEYS[1], unpack(over)) end
          if keep > 0 and #live < 512 then
            redis.pcall('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + keep) .. ' ' .. ARGV[3])
            redis.pcall('PEXPIRE', KEYS[1], 86400000)
          end
        end
        return {string.format('%.0f', now), live}
        """
}
