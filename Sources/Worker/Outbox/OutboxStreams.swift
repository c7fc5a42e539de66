import Core

/// The order in which the outbox streams are read, and the position in each.
///
/// A stream is read while it has entries. All slots are checked in turn, in case a wake-up was missed. A value of
/// facts: no I/O; times are monotonic milliseconds.
struct OutboxStreams {
    /// The next action.
    enum Step: Equatable {
        /// Read this stream.
        case read(OutboxStream, LaneReading.Step)
        /// Check whether each of these slots has a stream with an entry.
        case look(Range<Int>)
    }

    private let slots: Int
    private let sweepMs: Int
    private let window: Int
    /// Streams that have entries, or may.
    private var active: [OutboxStream: LaneReading] = [:]
    /// Streams to read, the one that waits longest first.
    private var due = Ring<OutboxStream>()
    private var isQueued: Set<OutboxStream> = []
    private var reads = 0
    /// The next slot to check, and how many are left of a check of all slots.
    private var lookAt = 0
    private var leftOfAll: Int
    private var isLooking = false
    private var lookMs = Int.min

    /// The most streams that are read at once.
    static let readsMax = 16
    /// The most slots that are checked together.
    static let looksMax = 256
    /// The most parts of one payer's entries in hand of a stream.
    static let payerShareMax = 128
    /// The parts that a stream may always have in hand, whatever the number of streams.
    static let streamShareMin = 32

    /// The streams of `slots` slots, numbered from 0, all of which are checked first; later some every `sweepMs`.
    ///
    /// The streams with entries share `window` parts of entries.
    init(slots: Int, sweepMs: Int, window: Int) {
        self.slots = slots
        self.sweepMs = sweepMs
        self.window = window
        leftOfAll = slots
    }

    /// The slots known to have entries.
    var activeSlots: Set<Int> { Set(active.keys.map(\.slot)) }

    /// The time of the next action; `Int.max` while an answer is pending.
    var nextMs: Int {
        if !due.isEmpty && reads < OutboxStreams.readsMax { return Int.min }
        return isLooking ? Int.max : lookMs
    }

    /// An entry was added to a stream.
    mutating func woken(_ stream: OutboxStream) {
        guard stream.slot < slots else { return }
        active[stream, default: LaneReading()].woken()
        settle(stream)
    }

    /// A wake-up may have been missed: all slots are checked, without a pause.
    mutating func lookAtAll() {
        leftOfAll = slots
        lookMs = Int.min
    }

    /// The next step; `nil` when there is none now.
    mutating func next(nowMs: Int) -> Step? {
        if !isLooking && lookMs <= nowMs {
            let range = lookAt..<min(lookAt + OutboxStreams.looksMax, slots)
            lookAt = range.upperBound == slots ? 0 : range.upperBound
            leftOfAll = max(leftOfAll - range.count, 0)
            lookMs = leftOfAll > 0 ? Int.min : nowMs + sweepMs
            isLooking = true
            return .look(range)
        }
        guard reads < OutboxStreams.readsMax else { return nil }
        let share = share
        while let stream = due.popFirst() {
            isQueued.remove(stream)
            guard let step = active[stream]?.next(share) else { continue }
            reads += 1
            return .read(stream, step)
        }
        return nil
    }

    /// Takes the answer to a check: the slots that have entries.
    ///
    /// When a slot did not answer, all slots are checked again after a pause.
    mutating func looked(_ found: some Sequence<Int>, failed: Bool = false, nowMs: Int) {
        isLooking = false
        for slot in found {
            for stream in OutboxStream.all(of: slot) { woken(stream) }
        }
        if failed { lookAgain(nowMs: nowMs) }
    }

    private mutating func lookAgain(nowMs: Int) {
        leftOfAll = slots
        lookMs = max(lookMs, nowMs + sweepMs)
    }

    /// Takes the answer to a reading; returns the indices of the entries to do.
    ///
    /// `isFull`: it has as many entries as were requested.
    mutating func read(_ stream: OutboxStream, _ entries: [LaneReading.Seen], isFull: Bool) -> [Int] {
        guard active[stream]?.isReading == true else { return [] }
        reads -= 1
        let share = share
        let taken = active[stream]?.read(entries, isFull: isFull, share) ?? []
        settle(stream)
        return taken
    }

    /// A reading failed: all slots are checked again after a pause.
    mutating func readFailed(_ stream: OutboxStream, nowMs: Int) {
        guard active[stream]?.isReading == true else { return }
        reads -= 1
        // The check finds it again.
        active[stream]?.readFailed()
        lookAgain(nowMs: nowMs)
    }

    /// A part of an entry was done or given up; returns the entry's payer after its last part.
    mutating func finished(_ stream: OutboxStream, _ id: StreamID) -> [UInt8]? {
        let payer = active[stream]?.finished(id)
        settle(stream)
        return payer
    }

    /// The part of the window for one stream: the fewer streams have entries, the larger it is.
    private var share: LaneReading.Share {
        let stream = max(window / (active.count + 1), OutboxStreams.streamShareMin)
        return LaneReading.Share(stream: stream, payer: min(OutboxStreams.payerShareMax, stream / 2))
    }

    /// Queues a stream that has something to read, and forgets one that has nothing.
    private mutating func settle(_ stream: OutboxStream) {
        guard let lane = active[stream] else { return }
        if lane.isIdle {
            active[stream] = nil
        } else if lane.wants(share), isQueued.insert(stream).inserted {
            due.append(stream)
        }
    }
}
