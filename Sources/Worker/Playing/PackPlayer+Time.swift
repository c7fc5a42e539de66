import Commands
import Core
import Reactors
import RedisLink

/// The worker's part of a test: the outbox, refreshes, and the time at which they are due.
extension PackPlayer {
    /// Relays the outbox and runs what is due, until nothing is left to do; then puts the lives of keys back.
    func settle() throws(PlayFailure) {
        var rounds = 0
        while true {
            try settleEars()
            try relayAll()
            try settleEars()
            let due = refreshes.take()
            guard let first = due.first else { return try move(by: 0) }
            rounds += 1
            guard rounds <= PackPlayer.roundsMax else {
                throw PlayFailure("a refresh changes its own keys at each run: \(label(first))")
            }
            for name in due { try refresh(name) }
        }
    }

    /// Relays until no stream of the outbox has an entry.
    private func relayAll() throws(PlayFailure) {
        let endMs = Clock.monotonicMs() + PackPlayer.answerMs
        // A stream whose entries were all deleted is still there.
        var count = RedisCall("EVAL")
        count.append("local n = 0 for _, key in ipairs(KEYS) do n = n + redis.call('XLEN', key) end return n")
        let streams = parts.keys.outboxes(of: parts.keys.commonSlot)
        count.append(decimal: streams.count)
        for name in streams { count.append(name) }
        while try reply(to: count).integer != 0 || relay.waitingCount > 0 {
            guard Clock.monotonicMs() < endMs else {
                throw PlayFailure("the outbox did not become empty in \(PackPlayer.answerMs / 1_000) s")
            }
        }
    }

    private func refresh(_ name: DueRefreshes.Name) throws(PlayFailure) {
        let descriptor = catalogue.refreshes[name.refresh]
        guard let argument = descriptor.arguments.first,
            let bound = try? ArgumentBinder.bind(
                descriptor, body: nil, path: [TextArgument(name: argument.wire, value: name.id)], caller: .worker)
        else { return }
        let outcome: CommandOutcome = try outcome { done in
            runner.run(descriptor, bound, caller: .worker, operation: nil, fence: 1, done)
        }
        switch outcome {
        case .answer(let answer):
            let root = try? JSON(parsing: answer.json, limits: parts.limits.answers).root
            let asked = root?["again_ms"]?.double.map { Int(min(max($0, 0), 1e15).rounded(.up)) }
            // A refresh of one id never begins twice within its window.
            let soonest = nowMs + (descriptor.refresh?.coalesceMs ?? 20)
            refreshes.ended(name, isIdle: root?["idle"]?.bool == true, againMs: asked.map { max($0, soonest) })
        case .refused(let refusal):
            throw PlayFailure("the refresh \(label(name)) was refused: \(refusal.name): \(refusal.message)")
        case .fenced, .stale:
            throw PlayFailure("the refresh \(label(name)) did nothing: a key that it read is another by now")
        }
    }

    // MARK: Time

    /// Moves the time: keys end, and refreshes run at the times for which they asked.
    ///
    /// At the end each refresh runs once more, as the worker's sweep does, unless it said that nothing lives there. An
    /// event that comes only then is noted: in production the sweep may come minutes later.
    public func pass(ms: Int) throws(PlayFailure) {
        let endMs = nowMs + ms
        var times = 0
        while nowMs < endMs {
            times += 1
            guard times <= PackPlayer.timesMax else {
                throw PlayFailure("more than \(PackPlayer.timesMax) things are due in this time; let less of it pass")
            }
            let keyMs = catalogue.refreshes.isEmpty ? nil : lives.soonestMs.map { nowMs + $0 }
            let nextMs = max(nowMs, min(endMs, refreshes.nextMs ?? endMs, keyMs ?? endMs))
            try move(by: nextMs - nowMs)
            time.set(nextMs)
            refreshes.reach(nextMs)
            try settle()
        }
        // A refresh that asks for the next moment has more to do than fits into one run.
        let isAsked = refreshes.nextMs.map { $0 <= endMs + 1_000 } ?? false
        let heard = heardCount
        refreshes.sweep()
        try settle()
        guard heardCount > heard, !isAsked else { return }
        notes.append(
            "the sweep alone found these events, which may be 5 minutes late in production: no refresh has asked for a "
                + "time until now by again_ms")
    }

    /// Takes that time from the life of each key, and gives back what Redis's own clock has taken since the last call.
    func move(by ms: Int) throws(PlayFailure) {
        var call = RedisCall("EVAL")
        call.append(PackPlayer.move)
        call.append("0")
        call.append(decimal: ms)
        call.append(decimal: lives.setMs)
        // The script sets the ends of keys, which no refresh waits for.
        ignoreEnds(true)
        let answer = (try reply(to: call).elements ?? []).compactMap(\.integer)
        try settleEars()
        ignoreEnds(false)
        guard answer.count == 2 else { throw PlayFailure("Redis did not answer how long its keys live") }
        lives = KeyLives(setMs: answer[0], soonestMs: answer[1] < 0 ? nil : max(answer[1], 1))
    }

    /// ARGV: milliseconds to take, and the time of the last call.
    ///
    /// The answer is this time, and what is left to the key that ends first, or -1.
    ///
    /// Most lives are whole seconds when they are set. So a life that is at most the passed time short of a whole second
    /// is taken for one: the test's time has stood still, and Redis's has not.
    private static let move: StaticString = """
        local cursor, by, soonest, time = '0', tonumber(ARGV[1]), -1, redis.call('TIME')
        local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
        local passed = now - tonumber(ARGV[2]) + 2
        repeat
          local page = redis.call('SCAN', cursor, 'COUNT', 1000)
          cursor = page[1]
          for _, key in ipairs(page[2]) do
            local found = redis.call('PTTL', key)
            if found >= 0 then
              local left, whole = found, math.ceil(found / 1000) * 1000
              if whole - found <= passed then left = whole end
              left = left - by
              if left <= 0 then
                redis.call('UNLINK', key)
              else
                if left ~= found then redis.call('PEXPIRE', key, left) end
                if soonest < 0 or left < soonest then soonest = left end
              end
            end
          end
        until cursor == '0'
        return {now, soonest}
        """

    // MARK: Keys

    /// The value of a key as JSON: text, a list, an object of a hash or of a sorted set's scores; `null` for no key.
    public func value(of key: [UInt8]) throws(PlayFailure) -> [UInt8] {
        let type = String(decoding: try reply(to: RedisCall("TYPE", key)).bytes ?? [], as: UTF8.self)
        let (first, last) = (Array("0".utf8), Array("-1".utf8))
        switch type {
        case "string": return PackPlayer.text(try reply(to: RedisCall("GET", key)).bytes ?? [])
        case "hash": return PackPlayer.object(try words(RedisCall("HGETALL", key)), PackPlayer.text)
        case "list": return PackPlayer.list(try words(RedisCall("LRANGE", key, first, last)))
        case "set":
            let members = try words(RedisCall("SMEMBERS", key))
            return PackPlayer.list(members.sorted { $0.lexicographicallyPrecedes($1) })
        case "zset":
            let scores = try words(RedisCall("ZRANGE", key, first, last, Array("WITHSCORES".utf8)))
            return PackPlayer.object(scores, PackPlayer.score)
        case "stream":
            let entries = try reply(to: RedisCall("XRANGE", key, Array("-".utf8), Array("+".utf8))).elements ?? []
            let objects = entries.map { entry in
                PackPlayer.object((entry.elements?.last?.elements ?? []).map { $0.bytes ?? [] }, PackPlayer.text)
            }
            return [UInt8(ascii: "[")] + objects.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        default: return Array("null".utf8)
        }
    }

    private func words(_ call: RedisCall) throws(PlayFailure) -> [[UInt8]] {
        (try reply(to: call).elements ?? []).map { $0.bytes ?? [] }
    }

    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.append(jsonString: String(decoding: bytes, as: UTF8.self))
        return text
    }

    /// A score as a number; an infinite one as text, since JSON has none.
    private static func score(_ bytes: [UInt8]) -> [UInt8] {
        bytes.contains { ASCII.isLetter($0) && $0 != UInt8(ascii: "e") } ? text(bytes) : bytes
    }

    private static func list(_ items: [[UInt8]]) -> [UInt8] {
        [UInt8(ascii: "[")] + items.map { text($0) }.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    private static func object(_ words: [[UInt8]], _ value: ([UInt8]) -> [UInt8]) -> [UInt8] {
        let members = stride(from: 0, to: words.count - 1, by: 2).map {
            text(words[$0]) + [UInt8(ascii: ":")] + value(words[$0 + 1])
        }
        return [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }
}
