public import Core
public import RedisLink

/// The events of one topic that `publish.lua` publishes, in order.
public struct PublishCall: Sendable {
    /// One event.
    public struct Event: Sendable {
        /// The event's name.
        public var name: EventName
        /// One JSON object, checked.
        public var data: [UInt8]
        /// The id that makes a retry harmless; `nil`: a retry publishes again.
        public var id: PublishID?
        /// The session that does not receive the event; `nil`: all sessions receive it.
        public var origin: EchoExclusion?

        /// Makes an event.
        public init(_ name: EventName, data: [UInt8], id: PublishID?, origin: EchoExclusion? = nil) {
            self.name = name
            self.data = data
            self.id = id
            self.origin = origin
        }

        /// Bytes of its data, name and id, all of which the log keeps.
        public var loggedBytes: Int { data.count + name.bytes.count + (id?.id.bytes.count ?? 0) }

        /// Adds the event's four words.
        fileprivate func append(to words: inout CallWords) {
            words.append(name.bytes)
            words.append(data)
            if let origin {
                words.append((id?.id.bytes ?? [UInt8(ascii: "-")]) + [UInt8(ascii: " ")] + origin.bytes)
            } else if let id {
                words.append(id.id.bytes)
            } else {
                words.append("-")
            }
            words.append(id == nil ? [] : PublishPrint.text(name, data))
        }
    }

    /// The outcome of an event, as the script reports it.
    public enum Outcome: Int, Sendable {
        /// It was logged and sent.
        case published = 0
        /// The id was known: nothing was logged or sent, and the position is the first one.
        case duplicate = 1
        /// The id was known for another event or other data: nothing was logged or sent, and there is no position.
        case conflict = 2
    }

    /// The script's result for one event.
    public struct PublishResult: Equatable, Sendable {
        /// The outcome.
        public let outcome: Outcome
        /// The event's position; `nil` after a conflict.
        public let position: Position?

        /// Reads the reply to a call of `count` events; `nil` when it has another form.
        public static func read(_ reply: RESPValue, count: Int) -> [PublishResult]? {
            read(reply, count: count) { $0 }
        }

        /// Reads the reply, and makes a value of each result.
        public static func read<Value>(
            _ reply: RESPValue, count: Int, _ value: (PublishResult) -> Value
        ) -> [Value]? {
            guard let bytes = reply.bytes else { return nil }
            var told: [Value] = []
            told.reserveCapacity(count)
            var rest = bytes[...]
            for number in 0..<count {
                guard let epoch = word(&rest, isLast: false),
                    let offset = word(&rest, isLast: false).flatMap({ ASCII.decimal($0) }),
                    let outcome = word(&rest, isLast: number == count - 1)
                        .flatMap({ ASCII.decimal($0) }).flatMap({ Outcome(rawValue: $0) })
                else { return nil }
                let position = Position(epoch: epoch, offset: offset)
                guard outcome == .conflict || position != nil else { return nil }
                told.append(value(PublishResult(outcome: outcome, position: outcome == .conflict ? nil : position)))
            }
            return told
        }

        /// Takes the next word, up to the space after it; the last one is the rest, without a space.
        private static func word(_ rest: inout ArraySlice<UInt8>, isLast: Bool) -> ArraySlice<UInt8>? {
            let end = rest.firstIndex(of: UInt8(ascii: " "))
            guard (end == nil) == isLast else { return nil }
            defer { rest = rest[min((end ?? rest.endIndex) + 1, rest.endIndex)...] }
            return rest[..<(end ?? rest.endIndex)]
        }
    }

    /// The bytes of an event's words beside its name, data and id: the key of the id, and the print.
    private static let wordsBytes = 160
    /// The index of the run's fence in `ARGV`.
    private static let fenceAt = 6

    /// The topic to publish on.
    public var topic: Topic
    /// At least one event; the script refuses an empty list.
    public var events: [Event]

    /// Makes a call.
    public init(_ topic: Topic, _ events: [Event]) {
        self.topic = topic
        self.events = events
    }

    /// Builds the call; `seenSeconds` is the time for which a retry is recognised, `top` the last known event of the
    /// topic, and `meta` the topic's key of that facet.
    public func call(
        _ script: ScriptID, keys: Keys, meta: [UInt8], policy: NamespacePolicy, seenSeconds: Int,
        _ stamp: CommandCallBuilder.CallStamp, top: Position?
    ) -> ScriptCall {
        var words = CallWords()
        words.reserve(
            words: 6 + 5 * events.count,
            bytes: events.reduce(4 * meta.count + 128) { $0 + $1.loggedBytes + PublishCall.wordsBytes })
        words.append { keys.appendLog(topic, to: &$0) }
        words.append(meta)
        for event in events { words.append(event.id.map { keys.seen(topic, owner: $0.owner, $0.id) } ?? meta) }
        let keyCount = words.count
        words.append { keys.appendChannel(topic, to: &$0) }
        events.first?.append(to: &words)
        words.append { terms in
            terms.append(decimal: stamp.nowMs)
            terms.append(UInt8(ascii: " "))
            policy.appendLogBound(largestBytes: events.reduce(0) { max($0, $1.loggedBytes) }, to: &terms)
            terms.append(UInt8(ascii: " "))
            for number in [policy.logSeconds, policy.positionSeconds, seenSeconds] {
                terms.append(decimal: number)
                terms.append(UInt8(ascii: " "))
            }
            terms.append(contentsOf: stamp.epoch)
        }
        words.append(stamp.run)
        words.append { top?.appendFence(to: &$0) }
        for event in events.dropFirst() { event.append(to: &words) }
        return ScriptCall(script: script, keyCount: keyCount, words: words, fenceAt: PublishCall.fenceAt)
    }
}
