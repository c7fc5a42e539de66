import Core
import RedisLink
import Rights

/// The topics whose epochs are to be ended, page by page: SCAN, then one call for each position found, then a pause.
///
/// A value of facts: no I/O. A page is done when every call of it was answered; failed calls are repeated. If Redis was
/// restarted meanwhile, the search begins again.
struct EpochSweep {
    /// The counts of a search.
    struct Figures: Equatable, Sendable {
        /// Positions whose epoch was ended; in a dry run, those that would be.
        var ended = 0
        /// Positions whose epoch had been ended in this life of Redis before.
        var before = 0
        /// Keys named like a position that hold something else.
        var foreign = 0
        /// Positions that Redis refused to read or change.
        var refused = 0
    }

    /// The next action.
    enum Step: Equatable {
        /// Nothing before ``nextMs`` or an answer.
        case wait
        /// SCAN from this cursor.
        case scan(cursor: [UInt8])
        /// Call the script for these topics.
        case end([Topic])
        /// All keys were read.
        case finished
        /// There was no progress for too long.
        case givenUp
    }

    /// Milliseconds without progress after which the search gives up.
    static let patienceMs = 30_000

    private static let facet: [UInt8] = Array("#meta".utf8)

    private let patterns: [TopicPattern]
    private let keys: Keys
    private let pauseMs: Int
    private(set) var figures = Figures()
    /// The time of the next action; `Int.max` while an answer is pending.
    private(set) var nextMs: Int
    /// The last refusal of Redis, for the operator.
    private(set) var refusal: RedisFailure?
    private var life: [UInt8] = []
    private var cursor = KeyPage.firstCursor
    private var waiting: [Topic] = []
    private var unanswered = 0
    private var isScanning = false
    /// Whether the page being read belongs to the former run of Redis.
    private var isOvertaken = false
    private var isLastPage = false
    private var progressMs: Int

    /// A sweep of the topics that match one of the patterns, or of all when there is none.
    init(patterns: [TopicPattern], keys: Keys, pauseMs: Int, nowMs: Int) {
        self.patterns = patterns
        self.keys = keys
        self.pauseMs = pauseMs
        nextMs = Int.max
        progressMs = nowMs
    }

    /// A connection is ready for calls; another Redis process, or other masters of a cluster, restart the search.
    mutating func connected(life: [UInt8], nowMs: Int) {
        if life != self.life {
            self.life = life
            isOvertaken = isScanning
            (cursor, waiting, isLastPage) = (KeyPage.firstCursor, [], false)
        }
        if !isScanning && unanswered == 0 { nextMs = nowMs }
    }

    /// The next step.
    mutating func next(nowMs: Int) -> Step {
        guard nowMs - progressMs <= EpochSweep.patienceMs else { return .givenUp }
        guard !life.isEmpty, !isScanning, unanswered == 0, nextMs <= nowMs else { return .wait }
        nextMs = Int.max
        if !waiting.isEmpty {
            unanswered = waiting.count
            defer { waiting = [] }
            return .end(waiting)
        }
        if isLastPage { return .finished }
        isScanning = true
        return .scan(cursor: cursor)
    }

    /// A page of SCAN was received, or failed.
    mutating func scanned(_ page: KeyPage?, nowMs: Int) {
        isScanning = false
        guard let page, !isOvertaken else {
            isOvertaken = false
            return pause(nowMs: nowMs)
        }
        progressMs = nowMs
        cursor = page.cursor
        isLastPage = page.isLast
        waiting = page.names.compactMap { topic(ofKey: $0) }
        if waiting.isEmpty { pause(nowMs: nowMs) } else { nextMs = nowMs }
    }

    /// A call was answered, or failed.
    mutating func answered(_ topic: Topic, _ result: Result<RESPValue, RedisFailure>, nowMs: Int) {
        unanswered -= 1
        switch result {
        case .success(let value):
            progressMs = nowMs
            switch value.integer {
            case 1: figures.ended += 1
            case 2: figures.before += 1
            default: figures.foreign += 1
            }
        case .failure(let failure) where failure.reaction == .failFast && !EpochSweep.isOfTheLink(failure):
            progressMs = nowMs
            figures.refused += 1
            refusal = failure
        case .failure(let failure):
            refusal = failure
            waiting.append(topic)
        }
        if unanswered == 0 { pause(nowMs: nowMs) }
    }

    /// Whether a failure is the connection's and not the topic's.
    private static func isOfTheLink(_ failure: RedisFailure) -> Bool {
        switch failure.kind {
        case .timedOut, .disconnected, .inFlightFull, .maxClients: true
        default: false
        }
    }

    private mutating func pause(nowMs: Int) { nextMs = nowMs + pauseMs }

    /// The topic whose position a key holds; `nil` for other keys, and for topics outside the patterns.
    private func topic(ofKey key: [UInt8]) -> Topic? {
        let facet = EpochSweep.facet
        let start = keys.prefix.count
        guard key.starts(with: keys.prefix), key.count > start + facet.count, key.suffix(facet.count) == facet[...],
            let topic = keys.topic(named: key[start..<(key.count - facet.count)])
        else { return nil }
        return patterns.isEmpty || patterns.contains { $0.matches(topic) } ? topic : nil
    }
}
