import Core

/// Which streams of the outbox are read next, and from where.
///
/// A stream is read while it has something. The slots are looked at in turn, in case nobody told of what they have. A
/// value of facts: no I/O; times are monotonic milliseconds.
struct OutboxStreams {
    /// What to do now.
    enum Step: Equatable {
        /// Read this stream.
        case read(OutboxStream, LaneReading.Step)
        /// Ask whether each of these slots has a stream with something in it.
        case look(Range<Int>)
    }

    private let slots: Int
    private let sweepMs: Int
    private let window: Int
    /// Streams that have something, or may.
    private var active: [OutboxStream: LaneReading] = [:]
    /// Streams to read, the one that waits longest first.
    private var due = Ring<OutboxStream>()
    private var isQueued: Set<OutboxStream> = []
    private var reads = 0
    /// The next slot to look at, and how many are left of a look at all of them.
    private var lookAt = 0
    private var leftOfAll: Int
    private var isLooking = false
    private var lookMs = Int.min

    /// Streams that are read at once.
    static let readsMax = 16
    /// Slots that are looked at together.
    static let looksMax = 256
    /// Parts of one payer's entries that are in hand of a stream.
    static let payerShareMax = 128
    /// Parts that a stream may have in hand however many streams there are.
    static let streamShareMin = 32

    /// The streams of `slots` slots, numbered from 0, all of which are looked at first; later some every `sweepMs`.
    ///
    /// `window` parts of entries are shared by the streams that have something.
    init(slots: Int, sweepMs: Int, window: Int) {
        self.slots = slots
        self.sweepMs = sweepMs
        self.window = window
        leftOfAll = slots
    }

    /// The slots whose streams have something as far as is known.
    var activeSlots: Set<Int> { Set(active.keys.map(\.slot)) }

    /// When there is something to do; `Int.max` while an answer is awaited.
    var nextMs: Int {
        if !due.isEmpty && reads < OutboxStreams.readsMax { return Int.min }
        return isLooking ? Int.max : lookMs
    }

    /// Something was put into a stream.
    mutating func woken(_ stream: OutboxStream) {
        guard stream.slot < slots else { return }
        active[stream, default: LaneReading()].woken()
        settle(stream)
    }

    /// A wake may have been missed: all slots are looked at, without a pause.
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

    /// A look was answered: these of its slots have something.
    mutating func looked(_ found: some Sequence<Int>) {
        isLooking = false
        for slot in found {
            for stream in OutboxStream.all(of: slot) { woken(stream) }
        }
    }

    /// A read was answered; returns which of the entries to do, by their places.
    ///
    /// `isFull` says that it brought as many entries as were asked for.
    mutating func read(_ stream: OutboxStream, _ entries: [LaneReading.Seen], isFull: Bool) -> [Int] {
        guard active[stream]?.isReading == true else { return [] }
        reads -= 1
        let share = share
        let taken = active[stream]?.read(entries, isFull: isFull, share) ?? []
        settle(stream)
        return taken
    }

    /// A read failed: everything is looked at again after a pause.
    mutating func readFailed(_ stream: OutboxStream, nowMs: Int) {
        guard active[stream]?.isReading == true else { return }
        reads -= 1
        // Found again by the look.
        active[stream]?.readFailed()
        leftOfAll = slots
        lookMs = max(lookMs, nowMs + sweepMs)
    }

    /// A part of an entry was done or given up; returns the entry's payer when it was the last part.
    mutating func finished(_ stream: OutboxStream, _ id: StreamID) -> [UInt8]? {
        let payer = active[stream]?.finished(id)
        settle(stream)
        return payer
    }

    /// The part of the window that a stream may have in hand now: the fewer streams have something, the more.
    private var share: LaneReading.Share {
        let stream = max(window / (active.count + 1), OutboxStreams.streamShareMin)
        return LaneReading.Share(stream: stream, payer: min(OutboxStreams.payerShareMax, stream / 2))
    }

    /// Reads a stream again when it has something to read, and forgets it when it has nothing.
    private mutating func settle(_ stream: OutboxStream) {
        guard let lane = active[stream] else { return }
        if lane.isIdle {
            active[stream] = nil
        } else if lane.wants(share), isQueued.insert(stream).inserted {
            due.append(stream)
        }
    }
}
