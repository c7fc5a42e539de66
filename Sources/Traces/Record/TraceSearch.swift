public import Core

/// A search of a record for sessions, in steps that are short enough to stand between two deliveries.
///
/// It reads the record as it was at its beginning. The answer is bounded. Pure.
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

    private let ring: TraceRing
    private let nowMs: Int
    private let filter: Filter
    private let about: Topic?
    private let limit: Int
    private var block = 0
    /// The sessions that fit each member of the filter.
    private var ofUser: Set<UInt32> = []
    private var ofAddress: Set<UInt32> = []
    private var ofTopic: Set<UInt32> = []
    /// Every session, where the filter has no member.
    private var all: Set<UInt32> = []
    /// The sessions that have ended, in that order.
    private var closed: [UInt32] = []
    /// The sessions of the answer; `nil` while they are being found.
    private var numbers: Set<UInt32>?
    private var fold = SessionFold()
    /// The number of sessions that have ended and fit, whatever the limit; 0 where others are wanted, too.
    public private(set) var total = 0

    /// Searches for the newest `limit` sessions; `about` leaves out what concerns other topics.
    init(_ ring: TraceRing, _ filter: Filter, about: Topic?, limit: Int, nowMs: Int) {
        self.ring = ring
        self.nowMs = nowMs
        self.filter = filter
        self.about = about
        self.limit = max(limit, 0)
    }

    /// Reads the next part; returns the sessions once all parts are read.
    ///
    /// Sessions that have ended stand in the order of their ends where only these are wanted; else all stand in the order
    /// in which they began.
    public mutating func step() -> [TracedSession]? {
        guard block < ring.blockCount else {
            guard let numbers else {
                numbers = chosen()
                block = 0
                return nil
            }
            let places = Dictionary(closed.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
            let found = fold.sessions.filter { numbers.contains($0.number) }
            return filter.isClosedOnly
                ? found.sorted { places[$0.number] ?? 0 < places[$1.number] ?? 0 } : found
        }
        let ring = ring
        ring.scan(block, nowMs: nowMs) { head, bytes in
            if let numbers { read(head, bytes, numbers) } else { find(head, bytes) }
        }
        block += 1
        return nil
    }

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
        if filter.user == nil, filter.address == nil, filter.topic == nil, !filter.isClosedOnly {
            all.insert(head.session)
        }
    }

    private func fits(_ number: UInt32) -> Bool {
        (filter.user == nil || ofUser.contains(number)) && (filter.address == nil || ofAddress.contains(number))
            && (filter.topic == nil || ofTopic.contains(number))
    }

    private mutating func chosen() -> Set<UInt32> {
        if filter.isClosedOnly {
            let found = closed.filter { fits($0) }
            total = found.count
            return Set(found.suffix(limit))
        }
        let smallest =
            [filter.user.map { _ in ofUser }, filter.address.map { _ in ofAddress }, filter.topic.map { _ in ofTopic }]
            .compactMap(\.self).min { $0.count < $1.count } ?? all
        return Set(smallest.filter { fits($0) }.sorted().suffix(limit))
    }

    private mutating func read(_ head: TraceRing.Head, _ bytes: [UInt8], _ numbers: Set<UInt32>) {
        if head.session > 0 {
            guard numbers.contains(head.session) else { return }
            if let about, head.kind.hasTopic, !head.begins(with: about.bytes, in: bytes) { return }
        } else if let about {
            guard head.begins(with: about.bytes, in: bytes) else { return }
        }
        guard !numbers.isEmpty, let change = TraceEntry.Change(head.kind, bytes[head.content]) else { return }
        fold.take(TraceEntry(session: head.session, atMs: head.atMs, change))
    }
}
