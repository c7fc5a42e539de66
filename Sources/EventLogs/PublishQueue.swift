import Commands
import Core

/// Gathers publishes, so that one call of the script commits all pending events of a topic (group commit).
///
/// A topic has one call in flight; events published meanwhile share the next. So its events keep their order, whatever
/// happens to a call. The more events there are, the less each costs: a further event in a call costs Redis a third of
/// a call. A single publisher never waits for others. Pure: no I/O, and time is a parameter.
struct PublishQueue<Publisher> {
    /// Events of one topic for one call, with the publishers that wait for the answer.
    struct Group {
        let topic: Topic
        fileprivate(set) var events: [PublishCall.Event] = []
        fileprivate(set) var publishers: [Publisher] = []
        /// The time by which it must have been sent, monotonic milliseconds; that of its first event.
        let deadlineMs: Int
        fileprivate var bytes = 0
        /// Whether it is a single event of a refused group.
        fileprivate var isAlone = false

        fileprivate init(_ topic: Topic, deadlineMs: Int) {
            (self.topic, self.deadlineMs) = (topic, deadlineMs)
        }

        /// Bounds keep a call from blocking Redis for long.
        fileprivate func hasRoom(for event: PublishCall.Event, _ bounds: Bounds) -> Bool {
            !isAlone && events.count < bounds.groupEventsMax && bytes + event.data.count <= bounds.groupBytesMax
        }

        fileprivate mutating func add(_ event: PublishCall.Event, _ publisher: Publisher) {
            events.append(event)
            publishers.append(publisher)
            bytes += event.data.count
        }

        /// A group for each event.
        fileprivate var parts: [Group] {
            zip(events, publishers).map { event, publisher in
                var part = Group(topic, deadlineMs: deadlineMs)
                part.add(event, publisher)
                part.isAlone = true
                return part
            }
        }
    }

    /// Limits on one call and on the waiting events.
    struct Bounds {
        /// Maximum events of one call.
        let groupEventsMax: Int
        /// Maximum bytes of their data; a single event may have more.
        let groupBytesMax: Int
        /// Maximum waiting events.
        let waitingEventsMax: Int
        /// Maximum bytes of their data.
        let waitingBytesMax: Int

        /// Takes the bounds from the node's limits.
        init(_ limits: Limits) {
            groupEventsMax = limits.publishGroupEventsMax
            groupBytesMax = limits.publishGroupBytesMax
            waitingEventsMax = limits.redisInFlightMax
            waitingBytesMax = limits.publishWaitingBytesMax
        }
    }

    /// The action for a group.
    enum Step {
        /// Call the script, then call ``finished(_:)`` or ``refused(_:)``.
        case call(Group)
        /// It waited too long behind other calls; it was never sent.
        case expire(Group)
    }

    /// The waiting groups of a topic.
    private struct Line {
        var groups: [Group] = []

        mutating func add(
            _ topic: Topic, _ event: PublishCall.Event, _ publisher: Publisher, _ deadlineMs: Int, _ bounds: Bounds
        ) {
            if groups.last?.hasRoom(for: event, bounds) != true { groups.append(Group(topic, deadlineMs: deadlineMs)) }
            groups[groups.count - 1].add(event, publisher)
        }

        mutating func next() -> Group? { groups.isEmpty ? nil : groups.removeFirst() }
    }

    /// The place in ``lines`` of each topic that has waiting groups or a call in flight.
    private var places: [Topic: Int] = [:]
    /// The lines, and those that serve no topic now and keep their storage.
    private var lines: [Line] = []
    private var free: [Int] = []
    /// The places of topics with waiting groups and no call in flight, each once.
    private var ready = Ring<Int>()
    /// Number of waiting events, and the bytes of their data.
    private(set) var waiting = 0
    private(set) var waitingBytes = 0
    private let bounds: Bounds

    /// An empty queue.
    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// Takes an event; false when too many wait already, and it was not taken.
    mutating func add(
        _ topic: Topic, _ event: PublishCall.Event, _ publisher: Publisher, deadlineMs: Int
    ) -> Bool {
        guard waiting < bounds.waitingEventsMax, waitingBytes + event.data.count <= bounds.waitingBytesMax else {
            return false
        }
        waiting += 1
        waitingBytes += event.data.count
        if let place = places[topic] {
            lines[place].add(topic, event, publisher, deadlineMs, bounds)
            return true
        }
        let place = free.popLast() ?? lines.count
        if place == lines.count { lines.append(Line()) }
        places[topic] = place
        lines[place].add(topic, event, publisher, deadlineMs, bounds)
        ready.append(place)
        return true
    }

    /// The next action; call it until there is none.
    mutating func next(nowMs: Int) -> Step? {
        guard let place = ready.popFirst(), let group = lines[place].next() else { return nil }
        waiting -= group.events.count
        waitingBytes -= group.bytes
        guard group.deadlineMs > nowMs else {
            finished(group.topic)
            return .expire(group)
        }
        return .call(group)
    }

    /// A topic's call was answered: its next one may be sent.
    mutating func finished(_ topic: Topic) {
        guard let place = places[topic] else { return }
        guard lines[place].groups.isEmpty else { return ready.append(place) }
        places[topic] = nil
        free.append(place)
    }

    /// A group of several events was refused and nothing was written: each event gets a call of its own.
    ///
    /// These precede all others of the topic, since a single event may be the cause.
    mutating func refused(_ group: Group) {
        waiting += group.events.count
        waitingBytes += group.bytes
        if let place = places[group.topic] { lines[place].groups.insert(contentsOf: group.parts, at: 0) }
        finished(group.topic)
    }
}
