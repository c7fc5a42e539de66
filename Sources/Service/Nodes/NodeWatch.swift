import Configuration
public import Core
public import Reactors
public import RedisLink

/// Announces this process to Redis every few seconds, and reads Redis's time and the other live processes.
///
/// It sets the process's ``NodeClock``. Thread: the link's.
public final class NodeWatch {
    /// The clock and the processes as of the last answer.
    public let book: Guarded<NodeBook>
    /// The time of the next question; `Int.max` while an answer is awaited.
    public var nextMs: Int { isAsking ? Int.max : dueMs }
    /// Runs when Redis has returned its time on a new link, or has refused to.
    public var onSettled: () -> Void = {}
    /// Runs after each answer.
    public var onLearned: (NodeBook) -> Void = { _ in }

    private let link: any RedisCalls
    private let keys: Keys
    private let clock: NodeClock
    private let log: Log
    private let everyMs: Int
    private var entry: NodeEntry
    private var isAsking = false
    private var dueMs = Int.min
    private var isNew = true
    private var hasSample = false
    private var reportedFailure = ""

    /// The longest round trip of a useful answer, milliseconds; a slower answer counts only while there is no other.
    private static let roundTripMsMax = 1_000
    /// The least validity of an entry, milliseconds, so that one or two lost calls remove no process.
    private static let keepMsMin = 15_000
    private static let retryMs = 250

    /// Makes a watch; `everyMs` is the time between two questions.
    public init(
        _ book: Guarded<NodeBook>, link: any RedisCalls, keys: Keys, clock: NodeClock, log: Log, everyMs: Int
    ) {
        (self.book, self.link, self.keys, self.clock) = (book, link, keys, clock)
        (self.log, self.everyMs) = (log, everyMs)
        entry = book.withLock { $0.own }
    }

    /// Makes a watch with a book of its own, for a process with one thread.
    public convenience init(
        _ kind: NodeEntry.Kind, name: [UInt8], link: any RedisCalls, keys: Keys, clock: NodeClock, log: Log,
        limits: Limits
    ) {
        let book = NodeBook(NodeEntry(kind, name: name), boundMs: limits.clockMs)
        self.init(
            Guarded(book), link: link, keys: keys, clock: clock, log: log, everyMs: limits.redisProbeMs)
    }

    /// Asks again, because the link is new and may lead to a server with another clock.
    public func linkIsNew(nowMs: Int) {
        isNew = true
        dueMs = Int.min
        work(nowMs: nowMs)
    }

    /// Asks when a question is due.
    public func work(nowMs: Int) {
        guard link.isReady, !isAsking, dueMs <= nowMs else { return }
        isAsking = true
        dueMs = nowMs + everyMs
        let began = (wall: Clock.wallMs(), monotonic: Clock.monotonicMs())
        link.call(NodeCall.call(keys, entry, keepMs: max(NodeWatch.keepMsMin, 4 * everyMs))) { [weak self] in
            self?.took($0, began.wall, began.monotonic)
        }
    }

    /// Removes this process's entry, because the process ends.
    public func leave() {
        guard link.isReady else { return }
        link.call(NodeCall.call(keys, entry, keepMs: 0)) { _ in }
    }

    private func took(_ result: Result<RESPValue, RedisFailure>, _ beganWallMs: Int, _ beganMs: Int) {
        isAsking = false
        let (wallMs, nowMs) = (Clock.wallMs(), Clock.monotonicMs())
        switch result {
        case .success(let value):
            guard let answer = NodeCall.Answer(value) else { return failed(RedisFailure(.protocolViolation)) }
            let isQuick = nowMs - beganMs <= NodeWatch.roundTripMsMax
            guard isQuick || !hasSample || isNew else { return }
            hasSample = true
            let offsetMs = (beganWallMs + wallMs) / 2 - answer.timeMs
            let (lines, book) = self.book.withLock { book in
                (book.learned(answer.others, offsetMs: offsetMs, nowMs: answer.timeMs), book)
            }
            if book.verdict?.followsOwn == true {
                clock.followOwn()
            } else {
                clock.follow(baseMs: answer.timeMs - (beganMs + nowMs) / 2)
            }
            // The others read this process's entry, so it is written at once.
            if entry.offsetMs == nil { dueMs = Int.min }
            entry.offsetMs = offsetMs
            lines.forEach(log.write)
            onLearned(book)
            settle()
        case .failure(let failure): failed(failure)
        }
    }

    private func failed(_ failure: RedisFailure) {
        switch failure.kind {
        case .timedOut, .disconnected, .inFlightFull, .busy, .loading, .tryAgain, .moved, .clusterDown:
            // Nothing is known yet: the next question follows soon.
            dueMs = min(dueMs, Clock.monotonicMs() + NodeWatch.retryMs)
        default:
            // A Redis that refuses the question will keep refusing, so the process's own clock is used.
            if !clock.isSettled { clock.followOwn() }
            settle()
            guard reportedFailure != failure.metricLabel else { return }
            reportedFailure = failure.metricLabel
            log.write(
                .warn, "redis does not tell the time: this process's own clock is used",
                [("reason", failure.metricLabel), ("detail", failure.detail)])
        }
    }

    private func settle() {
        guard isNew else { return }
        isNew = false
        onSettled()
    }
}

@available(*, unavailable)
extension NodeWatch: Sendable {}
