/// Which streams of the outbox are read next, and from where: one on plain names, one for each slot on tagged ones.
///
/// A stream is read while it has something; the others are looked at in turn, in case nobody told of what they have. A
/// value of facts: no I/O; times are monotonic milliseconds.
struct OutboxStreams {
    /// What to do now.
    enum Step: Equatable {
        /// Read this stream behind the entry; `nil`: from its start.
        case read(Int, after: [UInt8]?)
        /// Ask how long each of these streams is.
        case look(Range<Int>)
    }

    private struct Stream {
        /// The last entry that was read.
        var last: [UInt8]?
        var isReading = false
        /// Whether it is to be read, or read again.
        var isDue = false
        /// Parts of its entries that were read and are not done.
        var waiting = 0
    }

    private let count: Int
    private let sweepMs: Int
    /// Streams that have something, or may.
    private var active: [Int: Stream] = [:]
    /// Streams to read, the one that waits longest first.
    private var due: [Int] = []
    private var dueFirst = 0
    private var reads = 0
    /// The next stream to look at, and how many are left of a look at all of them.
    private var lookAt = 0
    private var leftOfAll: Int
    private var isLooking = false
    private var lookMs = Int.min

    /// Streams that are read at once.
    static let readsMax = 16
    /// Streams that are looked at together.
    static let looksMax = 256

    /// `count` streams, numbered from 0, all of which are looked at first; later some every `sweepMs`.
    init(count: Int, sweepMs: Int) {
        self.count = count
        self.sweepMs = sweepMs
        leftOfAll = count
    }

    /// The streams that have something as far as is known.
    var activeStreams: some Collection<Int> { active.keys }

    /// When there is something to do; `Int.max` while an answer is awaited.
    var nextMs: Int {
        if dueFirst < due.count && reads < OutboxStreams.readsMax { return Int.min }
        return isLooking ? Int.max : lookMs
    }

    /// Something was put into a stream.
    mutating func woken(_ index: Int) {
        guard index >= 0, index < count else { return }
        want(index)
    }

    /// What was told meanwhile may have been missed: all streams are looked at, without a pause.
    mutating func lookAtAll() {
        leftOfAll = count
        lookMs = Int.min
    }

    /// The next step; `nil` when there is none now.
    mutating func next(nowMs: Int) -> Step? {
        if !isLooking && lookMs <= nowMs {
            let range = lookAt..<min(lookAt + OutboxStreams.looksMax, count)
            lookAt = range.upperBound == count ? 0 : range.upperBound
            leftOfAll = max(leftOfAll - range.count, 0)
            lookMs = leftOfAll > 0 ? Int.min : nowMs + sweepMs
            // The only stream is read as quickly as its length is asked for.
            if count > 1 {
                isLooking = true
                return .look(range)
            }
            want(0)
        }
        guard dueFirst < due.count, reads < OutboxStreams.readsMax else { return nil }
        let index = due[dueFirst]
        dueFirst += 1
        if dueFirst == due.count {
            due.removeAll(keepingCapacity: true)
            dueFirst = 0
        }
        var stream = active[index] ?? Stream()
        // With nothing left to do the start is as good a place, and finds what an earlier run left.
        if stream.waiting == 0 { stream.last = nil }
        (stream.isReading, stream.isDue) = (true, false)
        active[index] = stream
        reads += 1
        return .read(index, after: stream.last)
    }

    /// A look was answered: these of its streams have something.
    mutating func looked(_ found: some Sequence<Int>) {
        isLooking = false
        for index in found { want(index) }
    }

    /// A read was answered: the last entry taken, and how many parts the entries have; `isMore` says that it be read again.
    mutating func read(_ index: Int, last: [UInt8]?, parts: Int, isMore: Bool) {
        guard var stream = active[index], stream.isReading else { return }
        reads -= 1
        stream.isReading = false
        stream.last = last ?? stream.last
        stream.waiting += parts
        active[index] = stream
        if isMore || stream.isDue {
            active[index]?.isDue = false
            want(index)
        } else {
            leave(index)
        }
    }

    /// A read failed: everything is looked at again after a pause.
    mutating func readFailed(_ index: Int, nowMs: Int) {
        read(index, last: nil, parts: 0, isMore: false)
        leftOfAll = count
        lookMs = max(lookMs, nowMs + sweepMs)
    }

    /// A part of an entry was done, or given up.
    mutating func finished(_ index: Int) {
        guard let waiting = active[index]?.waiting, waiting > 0 else { return }
        active[index]?.waiting = waiting - 1
        if waiting == 1 { leave(index) }
    }

    private mutating func want(_ index: Int) {
        var stream = active[index] ?? Stream()
        guard !stream.isDue else { return }
        stream.isDue = true
        active[index] = stream
        if !stream.isReading { due.append(index) }
    }

    /// Forgets a stream that has nothing.
    private mutating func leave(_ index: Int) {
        guard let stream = active[index], stream.waiting == 0, !stream.isReading, !stream.isDue else { return }
        active[index] = nil
    }
}
