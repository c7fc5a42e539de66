import Core
import Transport

/// The events of one topic that not every member has been handed, and how far the lap through the members is.
///
/// Events and members change while a lap goes on: each member knows the number of the event it is to get next, so that
/// it gets what has come up to its turn, whenever that was. What was there when a lap began has reached everybody when
/// it ends. Pure.
struct FanoutLap {
    /// In the order they came; the first has the number ``base``.
    private(set) var events: [Delivery] = []
    /// About how many bytes their frames have.
    private(set) var bytes = 0
    /// The number of the oldest event kept, all of the topic counted from 0.
    private(set) var base = 0
    /// The place among the members whose turn is next.
    private(set) var place = 0
    /// Events that were there when the lap began.
    private var countAtStart = 0
    /// The batch made last, and the numbers of its events.
    private var newest: (from: Int, end: Int, batch: DeliveryBatch)?

    /// Events that an empty lap keeps storage for.
    static let keptCapacity = 64
    /// Of a frame, what is not the event's data.
    private static let envelopeBytes = 128

    var isEmpty: Bool { events.isEmpty }
    /// The number of the next event that comes.
    var end: Int { base + events.count }

    mutating func append(_ delivery: Delivery) {
        events.append(delivery)
        bytes += FanoutLap.bytes(of: delivery)
    }

    /// About how many bytes the frame of an event has.
    static func bytes(of delivery: Delivery) -> Int { delivery.message.data.count + envelopeBytes }

    /// What a member is still to get whose next event has that number.
    ///
    /// Mostly the same as for the member before it, and then the same batch.
    mutating func batch(from number: Int, counts: OutboundCounts) -> DeliveryBatch {
        if let newest, newest.from == number, newest.end == end { return newest.batch }
        // A copy: a slice would share the storage, and each event that comes would copy all of it.
        let batch = DeliveryBatch(Array(events.dropFirst(max(number - base, 0))), counts: counts)
        newest = (number, end, batch)
        return batch
    }

    /// About how many bytes a member is still to get whose next event has that number.
    func bytes(from number: Int) -> Int {
        events.isEmpty ? 0 : bytes * min(max(end - number, 0), events.count) / events.count
    }

    /// The places of the next members, at most so many, of all that there are; the lap ends with `isLast`.
    mutating func next(_ count: Int, of members: Int) -> (places: Range<Int>, isLast: Bool) {
        if place == 0 { countAtStart = events.count }
        let first = min(place, members)
        place = first + min(count, members - first)
        return (first..<place, place == members)
    }

    /// Everybody had a turn.
    mutating func ends() {
        drop(countAtStart)
        place = 0
    }

    /// Everybody has everything.
    mutating func removeAll() {
        drop(events.count)
        place = 0
    }

    private mutating func drop(_ count: Int) {
        newest = nil
        let count = min(count, events.count)
        bytes -= events.prefix(count).reduce(0) { $0 + FanoutLap.bytes(of: $1) }
        events.removeFirst(count)
        base += count
        // A backlog's storage is not kept for ever, by however many topics had one.
        if events.isEmpty && events.capacity > FanoutLap.keptCapacity { events = [] }
    }
}
