import Configuration
import Core
import Reactors
import RedisLink
import Service

/// How new Redis's data were when they were seen last, to notice a copy that was put back.
///
/// `lease.lua` stores a time with each call, and it only grows, whichever worker calls. So data with a time before one
/// that was seen are older data. A value of facts: no I/O.
struct DataTime: Equatable {
    /// The latest time seen, milliseconds since 1970; `nil` while none was.
    private(set) var seenMs: Int?

    init(seenMs: Int?) {
        self.seenMs = seenMs
    }

    /// Takes the time that the data have now; by how much they are older than seen before, `nil` when they are not.
    mutating func read(_ timeMs: Int) -> Int? {
        defer { seenMs = timeMs }
        guard let seenMs, timeMs < seenMs else { return nil }
        return seenMs - timeMs
    }
}

/// Asks Redis for the time of its data, says when they went back, and remembers it over restarts in a file.
///
/// It asks before this worker's first lease of each connection, since any lease moves the time on.
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

    /// How often Redis is asked, milliseconds: what was written last before a restore may be newer by as much.
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

    /// Asks when it is time.
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
            // Without the key Redis is new or was emptied; then every position is gone, too, and clients are told.
            guard case .success(let value) = result, let timeMs = value.bytes.flatMap({ ASCII.decimal($0) }) else {
                return
            }
            take(timeMs, isSynced: link?.syncsEveryWrite ?? false)
        }
    }

    private func take(_ timeMs: Int, isSynced: Bool) {
        let before = time.seenMs
        // Where Redis may lose its last writes, a restart begins new epochs by itself.
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

    /// Reads what an earlier worker remembered; `nil` when there is no file yet.
    static func remembered(_ file: String) throws(StartProblem) -> Int? {
        guard Files.exists(file) else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try Files.read(file, bytesMax: 64)
        } catch {
            throw StartProblem.file(file, error)
        }
        guard let timeMs = ASCII.decimal(bytes.filter { $0 != 0x0a }) else {
            throw StartProblem("\(file) does not hold a time that a worker wrote; remove it")
        }
        return timeMs
    }
}
