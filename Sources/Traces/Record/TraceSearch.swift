public import Core

/// A search of a record for sessions, in steps that are short enough to stand between two deliveries.
///
/// It reads the record as it was at its first step, so that a search that waits for its turn holds no memory. The answer
/// is bounded. Thread: the shard's.
public struct TraceSearch {
    /// The sessions that are wanted; every member that is set must fit.
    public struct Filter: Sendable, Equatable {
        /// The user of the session.
        public var user: [UInt8]?
        /// The address of its client.
        public var address: IPAddress?
        /// A topic that it had to do with.
        public var topic: Topic?
        /// Whether only sessions that have ended are wanted.
        public var isClosedOnly: Bool

        /// A filter that fits every session, unless a member says otherwise.
        public init(
            user: [UInt8]? = nil, address: IPAddress? = nil, topic: Topic? = nil, isClosedOnly: Bool = false
        ) {
            self.user = user
            self.address = address
            self.topic = topic
            self.isClosedOnly = isClosedOnly
        }
    }

    private let trace: SessionTrace
    private let filter: Filter
    private let about: Topic?
    private let limit: Int
    private var ring: TraceRing?
    private var block = 0
    /// Open sessions that fit, though the record may not name them any more.
    private var open: Set<UInt32> = []
    /// The sessions that fit each member of the filter.
    private var ofUser: Set<UInt32> = []
    private var ofAddress: Set<UInt32> = []
    private var ofTopic: Set<UInt32> = []
    /// The sessions that had to do with the topic in question.
    private var ofAbout: Set<UInt32> = []
    /// Every session, where the filter has no member.
    private var all: Set<UInt32> = []
    /// The sessions that have ended, in that order.
    private var closed: [UInt32] = []
    private var fold: SessionFold

    /// The sessions of the answer; `nil` while they are being found.
    public private(set) var numbers: Set<UInt32>?
    /// The number of sessions that fit, whatever the limit.
    public private(set) var total = 0
    /// The gaps that all members of the topic in question received, as far as they are read.
    public var gaps: [TopicStay.Gap] { fold.gaps }

    /// Searches for the newest `limit` sessions; `about` leaves out what concerns other topics.
    init(_ trace: SessionTrace, _ filter: Filter, about: Topic?, limit: Int) {
        self.trace = trace
        self.filter = filter
        self.about = about
        self.limit = max(limit, 0)
        fold = SessionFold(about: about)
    }

    /// Adds an open session that fits; `isAbout`: it is subscribed to the topic in question.
    public mutating func add(open number: UInt32, isAbout: Bool) {
        open.insert(number)
        if isAbout { ofAbout.insert(number) }
    }

    /// Reads the next part; returns the sessions once all parts are read.
    ///
    /// Sessions that have ended stand in the order of their ends where only these are wanted; else all stand in the order
    /// of their first entries.
    public mutating func step() -> [TracedSession]? {
        let ring = ring ?? trace.ring
        self.ring = ring
        guard block < ring.blockCount else {
            guard numbers == nil else { return filter.isClosedOnly ? fold.ended : fold.sessions }
            (numbers, total) = chosen()
            (ofUser, ofAddress, ofTopic, ofAbout, all, open, closed) = ([], [], [], [], [], [], [])
            block = 0
            return nil
        }
        ring.scan(block, nowMs: trace.nowMs()) { head, bytes in
            if let numbers { read(head, bytes, numbers) } else { find(head, bytes) }
        }
        block += 1
        return nil
    }

    /// Reads the sessions that were found from the record as it is now.
    public mutating func renew() { ring = nil }

    private mutating func find(_ head: TraceRing.Head, _ bytes: [UInt8]) {
        guard head.session > 0 else { return }
        if head.kind == .closed { closed.append(head.session) }
        if let user = filter.user, head.names(user, in: bytes) { ofUser.insert(head.session) }
        if let address = filter.address, head.kind == .opened, head.isOpened(from: address, in: bytes) {
            ofAddress.insert(head.session)
        }
        if let topic = filter.topic, head.kind.hasTopic, head.begins(with: topic.bytes, in: bytes),
            !filter.isClosedOnly || head.kind != .refused
        {
            ofTopic.insert(head.session)
        }
        if filter.user != nil, let about, head.kind.hasTopic, head.begins(with: about.bytes, in: bytes) {
            ofAbout.insert(head.session)
        }
        if filter.user == nil, filter.address == nil, filter.topic == nil, !filter.isClosedOnly {
            all.insert(head.session)
        }
    }

    private func fits(_ number: UInt32) -> Bool {
        (filter.user == nil || ofUser.contains(number)) && (filter.address == nil || ofAddress.contains(number))
            && (filter.topic == nil || ofTopic.contains(number))
    }

    private func chosen() -> (numbers: Set<UInt32>, total: Int) {
        if filter.isClosedOnly {
            let found = closed.lazy.filter { fits($0) }
            return (Set(found.suffix(limit)), found.count)
        }
        let smallest =
            [filter.user.map { _ in ofUser }, filter.address.map { _ in ofAddress }, filter.topic.map { _ in ofTopic }]
            .compactMap(\.self).min { $0.count < $1.count } ?? all
        var (about, others, total) = (Newest(limit), Newest(limit), 0)
        func take(_ number: UInt32) {
            total += 1
            if ofAbout.contains(number) { about.take(number) } else { others.take(number) }
        }
        for number in open { take(number) }
        for number in smallest where !open.contains(number) && fits(number) { take(number) }
        // Sessions that had nothing to do with the topic hide none that had.
        return (Set((about.numbers + others.numbers).prefix(limit)), total)
    }

    private mutating func read(_ head: TraceRing.Head, _ bytes: [UInt8], _ numbers: Set<UInt32>) {
        if head.session > 0 {
            guard numbers.contains(head.session) else { return }
            if let about, head.kind.hasTopic, !head.begins(with: about.bytes, in: bytes) { return }
        } else if let about {
            guard head.begins(with: about.bytes, in: bytes) else { return }
        }
        guard head.session == 0 || !numbers.isEmpty, let change = TraceEntry.Change(head.kind, bytes[head.content])
        else { return }
        fold.take(TraceEntry(session: head.session, atMs: head.atMs, change))
    }
}

/// The largest of many numbers, without a list of all.
private struct Newest {
    private let limit: Int
    private var kept: [UInt32] = []
    private var floor: UInt32 = 0

    init(_ limit: Int) {
        self.limit = limit
    }

    mutating func take(_ number: UInt32) {
        guard number >= floor else { return }
        kept.append(number)
        if kept.count >= 2 * limit + 64 { cut() }
    }

    private mutating func cut() {
        kept.sort(by: >)
        kept.removeLast(max(kept.count - limit, 0))
        floor = kept.last ?? 0
    }

    /// The numbers, the largest first.
    var numbers: ArraySlice<UInt32> { kept.sorted(by: >).prefix(limit) }
}
