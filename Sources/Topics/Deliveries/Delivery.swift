public import Connections
public import Core
public import Dialects
public import Rights

/// One event on its way to the members of a shard: written once per encoding, then shared by reference.
///
/// Thread: the shard's.
public final class Delivery: OutboundItem {
    /// The topic whose members receive it.
    public let topic: Topic
    /// The event; a placeholder when a presence change is carried.
    public let message: ChannelMessage
    /// The presence change that it carries instead of an event.
    private let change: PresenceChange?
    /// The number of the encoding asked for first, mostly the only one, and its bytes.
    private var firstNumber = -1
    private var firstFrame: [UInt8] = []
    private var otherFrames: [(number: Int, frame: [UInt8])] = []
    private var knownRule: SlowRule?
    /// Whether it is for a single client.
    public let isForOne: Bool

    /// The handling of the delivery in the queue of a client that reads too slowly.
    public enum SlowRule: Equatable {
        /// Nothing: the client is closed and resumes by position.
        case disconnect
        /// It gives way to a newer event of the same key; without a key it stays.
        case conflate(ConflationKey?)
    }

    /// `counts` are those of the topic on its shard.
    public init(topic: Topic, message: ChannelMessage, counts: OutboundCounts, isForOne: Bool = false) {
        self.topic = topic
        self.message = message
        self.isForOne = isForOne
        change = nil
        super.init(counts: counts)
    }

    /// A change of presence: members that joined the topic or left it.
    ///
    /// It is queued among events without being one, and no newer event replaces it.
    public init(topic: Topic, change: PresenceChange, counts: OutboundCounts) {
        self.topic = topic
        message = Delivery.noEvent
        isForOne = false
        self.change = change
        super.init(counts: counts)
    }

    /// The placeholder for an event; its name is the gateway's own, so no publisher's rules apply.
    private static let noEvent = ChannelMessage(
        position: nil, event: .presence, id: nil, data: Array("{}".utf8))

    /// The bytes of the event in an encoding.
    public func frame(_ encoding: Encoding) -> [UInt8] {
        if firstNumber == encoding.number { return firstFrame }
        for other in otherFrames where other.number == encoding.number { return other.frame }
        let plain = encoding.plain
        let frame = plain === encoding ? written(encoding) : encoding.deflated(frame(plain))
        if firstNumber < 0 {
            (firstNumber, firstFrame) = (encoding.number, frame)
        } else {
            otherFrames.append((encoding.number, frame))
        }
        return frame
    }

    /// The bytes of the event for a client; `isBacklog`: the client asked for it by its position.
    ///
    /// Bytes for a single client, such as a recovery, stay plain: deflating them for each of many reconnecting clients is
    /// costly.
    public func frame(_ encoding: Encoding, isBacklog: Bool) -> [UInt8] {
        frame(isBacklog || isForOne ? encoding.plain : encoding)
    }

    /// The units of the event for one client, as its dialect writes them: of a presence change, too.
    public func units(_ encoding: Encoding) -> [WireUnit] {
        change.map { encoding.units(topic, $0) } ?? encoding.units(topic, message)
    }

    private func written(_ encoding: Encoding) -> [UInt8] {
        if let change { return encoding.frame(topic, change) }
        return encoding.frame(topic, message)
    }

    /// The rule of its namespace; determined on first use, which only slow clients cause.
    public func slowRule(_ access: AccessPolicy, _ json: JSON.Limits) -> SlowRule {
        if let knownRule { return knownRule }
        var rule = SlowRule.disconnect
        if let policy = access.policy(of: topic), policy.slow == .conflate {
            let replacing = change == nil ? policy.conflate[message.event] : nil
            let key = replacing.flatMap { by in
                ConflationKey(topic: topic, event: message.event, data: message.data, by: by, json: json)
            }
            rule = .conflate(key)
        }
        knownRule = rule
        return rule
    }
}
