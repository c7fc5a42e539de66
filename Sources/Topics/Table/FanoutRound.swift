import Connections
import Core

/// The pending fan-out of one topic: events that some members have not received, and the progress of the round.
///
/// Events and members may change during a round. Each member knows the number of its next event, and at its turn it
/// receives everything up to then. Events present at the start of a round have reached all members at its end. Pure.
struct FanoutRound {
    /// In the order in which they were received; the first has the number ``base``.
    private(set) var events: [Delivery] = []
    /// Approximate bytes of their frames.
    private(set) var bytes = 0
    /// The number of the oldest event kept; the topic's events are numbered from 0.
    private(set) var base = 0
    /// The place of the member whose turn is next.
    private(set) var place = 0
    /// Number of events that were present when the round began.
    private var countAtStart = 0
    /// The batch made last, and the numbers of its events.
    private var newest: (from: Int, end: Int, batch: DeliveryBatch)?

    /// Events for which an empty fan-out keeps storage.
    static let keptCapacity = 64
    /// Bytes assumed for the part of a frame that is not the event's data.
    private static let envelopeBytes = 128

    var isEmpty: Bool { events.isEmpty }
    /// The number that the next event will get.
    var end: Int { base + events.count }

    mutating func append(_ delivery: Delivery) {
        events.append(delivery)
        bytes += FanoutRound.bytes(of: delivery)
    }

    /// Approximate bytes of an event's frame.
    static func bytes(of delivery: Delivery) -> Int { delivery.message.data.count + envelopeBytes }

    /// The events from a number on, for a member that has received those before it.
    ///
    /// Consecutive members mostly need the same events, and then share the batch. It stays out of the code that visits each
    /// member: inlined there, it makes that code half as long again.
    @inline(never)
    mutating func batch(from number: Int, counts: OutboundCounts) -> DeliveryBatch {
        if let newest, newest.from == number, newest.end == end { return newest.batch }
        // A copy: a slice would share the storage, and each appended event would copy all of it.
        let batch = DeliveryBatch(Array(events.dropFirst(max(number - base, 0))), counts: counts)
        newest = (number, end, batch)
        return batch
    }

    /// The position of the first event from a number on that has one.
    func first(from number: Int) -> Position? {
        events.dropFirst(max(number - base, 0)).lazy.compactMap(\.message.position).first
    }

    /// Approximate bytes of the events from a number on.
    func bytes(from number: Int) -> Int {
        events.isEmpty ? 0 : bytes * min(max(end - number, 0), events.count) / events.count
    }

    /// The places of the next members, at most `count`; `isLast` when the round ends with them.
    mutating func next(_ count: Int, of members: Int) -> (places: Range<Int>, isLast: Bool) {
        if place == 0 { countAtStart = events.count }
        let first = min(place, members)
        place = first + min(count, members - first)
        return (first..<place, place == members)
    }

    /// Every member had its turn: the round ends.
    mutating func ends() {
        drop(countAtStart)
        place = 0
    }

    /// Every member has received all events.
    mutating func removeAll() {
        drop(events.count)
        place = 0
    }

    private mutating func drop(_ count: Int) {
        newest = nil
        let count = min(count, events.count)
        bytes -= events.prefix(count).reduce(0) { $0 + FanoutRound.bytes(of: $1) }
        events.removeFirst(count)
        base += count
        // Storage of a long backlog is released, since many topics may have had one.
        if events.isEmpty && events.capacity > FanoutRound.keptCapacity { events = [] }
    }
}
