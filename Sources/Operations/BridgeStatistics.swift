public import Reactors

/// Figures of the bridge from Socket.IO's emitters; they stay 0 without it.
///
/// Thread: written by the first shard's, readable by any.
public final class BridgeStatistics: Sendable {
    /// The reason why an event of an emitter is not published: a label of its metric.
    public enum Reason: String, CaseIterable, Sendable {
        /// The message has not the emitters' form.
        case malformed
        /// The message is larger than an event may be.
        case tooLarge = "too_large"
        /// The message names no room.
        case everyone
        /// The message leaves some rooms out.
        case except
        /// The event has several arguments.
        case arguments
        /// The clients are to answer, or one has.
        case callback
        /// The message is an order to the servers of clients.
        case order
        /// The room is no topic of a served namespace.
        case topic
        /// The name or the argument is not that of an event.
        case invalid

        /// The place among all cases.
        public var index: Int { Reason.allCases.firstIndex(of: self) ?? 0 }

        /// The mend for the backend's developer.
        public var mend: String {
            switch self {
            case .malformed: "publish with redis-emitter and its own parser, or python-socketio from 5.14 without NaN"
            case .tooLarge: "send less, or raise publishBytesMax"
            case .everyone: "name the rooms: a gateway has no room of all clients"
            case .except: "publish to a topic without the clients that are left out"
            case .arguments: "put all into one object"
            case .callback: "let the client call a command instead of answering an event"
            case .order: "do this at the gateway: clients subscribe themselves, and services end sessions by HTTP"
            case .topic: "name the room as the topic, such as shop:42, and serve its namespace"
            case .invalid: "send an event name of letters, digits and . _ : / - with one object"
            }
        }
    }

    /// Events published, once for each room.
    public let published = Counter()
    /// Events that another node had published before.
    public let repeated = Counter()
    /// Events that could not be published in time, or had no room to wait.
    public let lost = Counter()
    /// Messages that wait, or that another node publishes.
    public let waiting = Counter()
    /// 1 while this node publishes the events.
    public let holder = Counter()
    private let refusals = Reason.allCases.map { _ in Counter() }

    /// Zero counts.
    init() {}

    /// Counts a refusal.
    public func refused(_ reason: Reason) { refusals[reason.index].add(1) }

    /// The refusals by reason, as labels of a metric.
    var refusedByReason: [(label: String, value: String, count: Int)] {
        Reason.allCases.map { ("reason", $0.rawValue, refusals[$0.index].value) }
    }
}
