import Configuration
import Core
import Reactors
import RedisLink
import Service

/// The age of Redis's data when they were read last, to detect a restored copy.
///
/// `lease.lua` stores a time with each call, and it only grows, whichever worker calls. So data with a time before a
/// known one are older data. A value of facts: no I/O.
struct DataTime: Equatable {
    /// The latest known time, milliseconds since 1970; `nil` before the first.
    private(set) var seenMs: Int?

    init(seenMs: Int?) {
        self.seenMs = seenMs
    }

    /// Takes the present time of the data; returns by how much they are older than known data, `nil` when they are not.
    mutating func read(_ timeMs: Int) -> Int? {
        defer { seenMs = timeMs }
        guard let seenMs, timeMs < seenMs else { return nil }
        return seenMs - timeMs
    }
}

/// Asks Redis for the time of its data, logs when it went back, and stores it in a file over restarts.
///
/// It asks before this worker's first lease of each connection, since any lease advances the time.
///
/// Thread: the worker's.
final class DataWatch {
    private let keys: Keys
    private let file: String?
    private let log: Log
    private var time: DataTime
    private var nextMs = Int.min
    private var isAsking = false
    private var hasToldFile = false

    /// The period of requests to Redis, milliseconds.
    ///
    /// The last writes before a restore may be newer than the stored time by as much.
    private static let everyMs = 5_000

    init(keys: Keys, file: String?, seenMs: Int?, log: Log) {
        self.keys = keys
        self.file = file
        self.log = log
        time = DataTime(seenMs: seenMs)
    }

    /// A connection is ready for calls.
    func connected(_ link: any RedisCalls, nowMs: Int) {
        isAsking = false
        ask(link, nowMs: nowMs)
    }

    /// Asks Redis when it is time.
    func work(_ link: any RedisCalls, nowMs: Int) {
        if nextMs <= nowMs { ask(link, nowMs: nowMs) }
    }

    private func ask(_ link: any RedisCalls, nowMs: Int) {
        guard link.isReady, !isAsking else { return }
        isAsking = true
        nextMs = nowMs + DataWatch.everyMs
        link.call(RedisCall("HGET", keys.leases, Array("token".utf8))) { [weak self, weak link] result in
            guard let self else { return }
            isAsking = false
            // Without the key Redis is new or was emptied; then every position is lost as well, and clients receive a
            // gap.
            guard case .success(let value) = result, let timeMs = value.bytes.flatMap({ ASCII.decimal($0) }) else {
                return
            }
            take(timeMs, isSynced: link?.syncsEveryWrite ?? false)
        }
    }

    private func take(_ timeMs: Int, isSynced: Bool) {
        let before = time.seenMs
        // A Redis that may lose its last writes begins new epochs by itself at a restart.
        if let olderMs = time.read(timeMs), isSynced {
            log.write(
                .error, "redis holds older data than before; were they put back from a copy?",
                [("olderByMs", "\(olderMs)"), ("then", "switchboard reset-epochs, see deploy/README.md")])
        }
        if before != timeMs { remember(timeMs) }
    }

    private func remember(_ timeMs: Int) {
        guard let file else { return }
        do {
            try Files.write(Array("\(timeMs)\n".utf8), to: file, isSecret: false)
            hasToldFile = false
        } catch {
            guard !hasToldFile else { return }
            hasToldFile = true
            log.write(.warn, "cannot remember the time of redis's data", [("file", file), ("reason", "\(error)")])
        }
    }

    /// Reads the time that an earlier worker stored; `nil` when there is no file yet.
    static func remembered(_ file: String) throws(StartProblem) -> Int? {
        guard Files.exists(file) else { return nil }
        let bytes = try StartFile.read(file, bytesMax: 64)
        guard let timeMs = ASCII.decimal(bytes.filter { $0 != 0x0a }) else {
            throw StartProblem("\(file) does not hold a time that a worker wrote; remove it")
        }
        return timeMs
    }
}
