import Configuration
public import Core
public import Reactors
public import RedisLink

/// Tells Redis every few seconds that this process lives, and reads Redis's time and which other processes do.
///
/// The time goes into the process's ``NodeClock``. Thread: the link's.
public final class NodeWatch {
    /// Clock and processes as of the last look.
    public let book: Guarded<NodeBook>
    /// When there is something to ask; `Int.max` while an answer is on its way.
    public var nextMs: Int { isAsking ? Int.max : dueMs }
    /// Runs when Redis has told its time on a new link, or has said that it will not.
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
    private var toldFailure = ""

    /// An answer that took longer says too little of the time; it counts only while there is no other.
    private static let roundTripMsMax = 1_000
    /// An entry counts for so long at least, so that one or two lost calls make nobody vanish.
    private static let keepMsMin = 15_000
    private static let retryMs = 250

    /// `everyMs` is the time from one question to the next.
    public init(
        _ book: Guarded<NodeBook>, link: any RedisCalls, keys: Keys, clock: NodeClock, log: Log, everyMs: Int
    ) {
        (self.book, self.link, self.keys, self.clock) = (book, link, keys, clock)
        (self.log, self.everyMs) = (log, everyMs)
        entry = book.withLock { $0.own }
    }

    /// A watch with a book of its own, for a process with one thread.
    public convenience init(
        _ kind: NodeEntry.Kind, name: [UInt8], link: any RedisCalls, keys: Keys, clock: NodeClock, log: Log,
        limits: Limits
    ) {
        let book = NodeBook(NodeEntry(kind, name: name), boundMs: limits.clockMs)
        self.init(
            Guarded(book), link: link, keys: keys, clock: clock, log: log, everyMs: limits.redisProbeMs)
    }

    /// The link is new, and may lead to a server with another clock.
    public func linkIsNew(nowMs: Int) {
        isNew = true
        dueMs = Int.min
        work(nowMs: nowMs)
    }

    /// Asks when it is time.
    public func work(nowMs: Int) {
        guard link.isReady, !isAsking, dueMs <= nowMs else { return }
        isAsking = true
        dueMs = nowMs + everyMs
        let began = (wall: Clock.wallMs(), monotonic: Clock.monotonicMs())
        link.call(NodeCall.call(keys, entry, keepMs: max(NodeWatch.keepMsMin, 4 * everyMs))) { [weak self] in
            self?.took($0, began.wall, began.monotonic)
        }
    }

    /// Takes this process's entry away: it ends.
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
                (book.learned(answer.others, offsetMs: offsetMs), book)
            }
            if book.verdict?.followsOwn == true {
                clock.followOwn()
            } else {
                clock.follow(baseMs: answer.timeMs - (beganMs + nowMs) / 2)
            }
            // The others read this process's entry, so it should not wait for the next turn.
            if entry.offsetMs == nil { dueMs = Int.min }
            entry.offsetMs = offsetMs
            for line in lines {
                log.write(line.isWarning ? .warn : .info, line.text, line.fields.map { ($0.name, $0.value) })
            }
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
            // A Redis that refuses the question will go on to; the clock that the process has must do.
            if !clock.isSettled { clock.followOwn() }
            settle()
            guard toldFailure != failure.metricLabel else { return }
            toldFailure = failure.metricLabel
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
