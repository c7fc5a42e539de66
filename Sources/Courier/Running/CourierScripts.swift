import RedisLink
import Rights
import Service

/// The courier's own scripts: each is one step in Redis.
struct CourierScripts: Sendable {
    /// All of them, for the link.
    let registry: ScriptRegistry
    /// Ends a call.
    let finish: ScriptID
    /// Moves a receiver's cursor of one topic, and reads on.
    let step: ScriptID

    init() throws(StartProblem) {
        guard
            let registry = try? ScriptRegistry(
                scripts: [
                    ("courier_finish", Array(CourierScripts.finishText.utf8)),
                    ("courier_step", Array(CourierScripts.stepText.utf8)),
                ], sha1: { Digest.sha1($0) }),
            let finish = registry.script(named: "courier_finish"), let step = registry.script(named: "courier_step")
        else { throw StartProblem("the scripts of the courier are broken") }
        (self.registry, self.finish, self.step) = (registry, finish, step)
    }

    /// The script of docs/courier.md; a test compares the two.
    static let finishText = """
        -- KEYS: #calls:SERVICE, #outbox, #calls-dead:SERVICE. ARGV: the entry's id, the arguments, and why it is given up or nothing.
        if #redis.call('XPENDING', KEYS[1], 'couriers', ARGV[1], ARGV[1], 1) == 0 then return 0 end
        local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
        if entry then
          local command
          for place = 1, #entry[2], 2 do
            if entry[2][place] == 'c' then command = entry[2][place + 1] end
          end
          redis.call('XADD', KEYS[2], '*', 'c', command, 'a', ARGV[2])
          if ARGV[3] ~= '' then
            redis.call('XADD', KEYS[3], 'MAXLEN', '~', 1000, '*', 'id', ARGV[1], 'reason', ARGV[3], unpack(entry[2]))
            redis.call('EXPIRE', KEYS[3], 604800)
          end
        end
        redis.call('XACK', KEYS[1], 'couriers', ARGV[1])
        redis.call('XDEL', KEYS[1], ARGV[1])
        redis.call('PUBLISH', KEYS[2], '')
        return 1

        """

    /// Moves the cursor of one topic, and reads on.
    ///
    /// KEYS: the cursor, the lease, the position and the log of the topic. ARGV: the courier's name, the milliseconds of a
    /// lease, epoch and offset of what is done or nothing, how many entries to read (0: none, the lease is kept; -1: none, the
    /// lease is given back), and the milliseconds that a
    /// cursor lives where the position has no end; otherwise it lives a minute longer than that.
    ///
    /// Returns {0, ms} when another courier has the topic for so long, {1} when it is kept, {2} when nothing is left to do
    /// and the lease is given back, or {3, epoch, done, last, entries}: `done` is the offset of the cursor, `-` without one.
    static let stepText = """
        local holder = redis.call('GET', KEYS[2])
        if holder and holder ~= ARGV[1] then return {0, redis.call('PTTL', KEYS[2])} end
        if ARGV[3] ~= '' then
          if not holder then return {0, 0} end
          local life = redis.call('PTTL', KEYS[3])
          redis.call('SET', KEYS[1], ARGV[3] .. ' ' .. ARGV[4], 'PX', life > 0 and life + 60000 or ARGV[6])
        end
        local count = tonumber(ARGV[5])
        if count == 0 then
          redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
          return {1}
        end
        local meta = redis.call('HMGET', KEYS[3], 'epoch', 'offset')
        local epoch, last = meta[1], tonumber(meta[2] or '')
        local known, done = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
        if known ~= epoch then done = known and '0' or nil end
        if count < 0 or not epoch or not last or last <= tonumber(done or '0') then
          redis.call('DEL', KEYS[2])
          return {2}
        end
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
        local from = string.format('%.0f', tonumber(done or '0') + 1)
        return {3, epoch, done or '-', meta[2], redis.call('XRANGE', KEYS[4], from .. '-0', '+', 'COUNT', count)}

        """
}
