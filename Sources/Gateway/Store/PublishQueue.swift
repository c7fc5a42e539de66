import Commands
import Core

/// Gathers publishes, so that one call of the script commits all that a topic has at a time (group commit).
///
/// A topic has one call in flight; what comes meanwhile goes together in the next. So its events keep the order in which
/// they came, whatever a call meets, and the more that come the less each costs: a further event in a call costs Redis a
/// third of a call. Who publishes alone waits for nobody. Pure: no I/O, and time is given to it.
struct PublishQueue<Publisher> {
    /// Events of one topic for one call, with those who wait for the answer.
    struct Group {
        let topic: Topic
        fileprivate(set) var events: [PublishCall.Event] = []
        fileprivate(set) var publishers: [Publisher] = []
        /// When the first of them must have been sent, monotonic milliseconds.
        fileprivate let deadlineMs: Int
        fileprivate var bytes = 0
        /// Whether it is one event of a group that was refused.
        fileprivate var isAlone = false

        fileprivate init(_ topic: Topic, deadlineMs: Int) {
            (self.topic, self.deadlineMs) = (topic, deadlineMs)
        }

        /// A call must not keep Redis from others for long.
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

    /// How much is gathered, and how much waits.
    struct Bounds {
        /// Events of one call.
        let groupEventsMax: Int
        /// Bytes of their data; a single event may have more.
        let groupBytesMax: Int
        /// Events that wait.
        let waitingEventsMax: Int
        /// Bytes of their data.
        let waitingBytesMax: Int

        /// Takes the figures out of the node's limits.
        init(_ limits: Limits) {
            groupEventsMax = limits.publishGroupEventsMax
            groupBytesMax = limits.publishGroupBytesMax
            waitingEventsMax = limits.redisInFlightMax
            waitingBytesMax = limits.publishWaitingBytesMax
        }
    }

    /// What is to be done with a group.
    enum Step {
        /// Call the script, then tell ``finished(_:)`` or ``refused(_:)``.
        case call(Group)
        /// It waited too long behind other calls; it was never sent.
        case expire(Group)
    }

    /// The groups that wait, of each topic that has any or has a call in flight.
    private var lines: [Topic: [Group]] = [:]
    /// Topics with groups that wait and no call in flight, each once.
    private var ready = Ring<Topic>()
    /// Events that wait, and the bytes of their data.
    private(set) var waiting = 0
    private(set) var waitingBytes = 0
    private let bounds: Bounds

    /// An empty queue.
    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// Takes an event; false when too much waits already, and it was not taken.
    mutating func add(
        _ topic: Topic, _ event: PublishCall.Event, _ publisher: Publisher, deadlineMs: Int
    ) -> Bool {
        guard waiting < bounds.waitingEventsMax, waitingBytes + event.data.count <= bounds.waitingBytesMax else {
            return false
        }
        waiting += 1
        waitingBytes += event.data.count
        if lines[topic] == nil { ready.append(topic) }
        PublishQueue.add(event, publisher, to: &lines[topic, default: []], topic, deadlineMs, bounds)
        return true
    }

    private static func add(
        _ event: PublishCall.Event, _ publisher: Publisher, to line: inout [Group], _ topic: Topic, _ deadlineMs: Int,
        _ bounds: Bounds
    ) {
        if line.last?.hasRoom(for: event, bounds) != true { line.append(Group(topic, deadlineMs: deadlineMs)) }
        line[line.count - 1].add(event, publisher)
    }

    /// What to do next; call it until there is nothing.
    mutating func next(nowMs: Int) -> Step? {
        guard let topic = ready.popFirst(), let group = lines[topic]?.first else { return nil }
        lines[topic]?.removeFirst()
        waiting -= group.events.count
        waitingBytes -= group.bytes
        guard group.deadlineMs > nowMs else {
            finished(topic)
            return .expire(group)
        }
        return .call(group)
    }

    /// A topic's call was answered: its next may go.
    mutating func finished(_ topic: Topic) {
        guard let line = lines[topic] else { return }
        if line.isEmpty { lines[topic] = nil } else { ready.append(topic) }
    }

    /// A group of several was refused and nothing of it was done: each of its events gets a call of its own, before all
    /// others of the topic, since one of them alone may be to blame.
    mutating func refused(_ group: Group) {
        waiting += group.events.count
        waitingBytes += group.bytes
        lines[group.topic]?.insert(contentsOf: group.parts, at: 0)
        finished(group.topic)
    }
}
