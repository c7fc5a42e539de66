public import Core
public import RedisLink

/// One event to be published by `publish.lua`.
public struct PublishCall: Sendable {
    /// Where.
    public var topic: Topic
    /// Which event.
    public var event: EventName
    /// One JSON object, checked.
    public var data: [UInt8]
    /// What makes a retry harmless; `nil`: nothing does.
    public var id: MessageID?

    /// Makes an event.
    public init(_ topic: Topic, _ event: EventName, data: [UInt8], id: MessageID?) {
        self.topic = topic
        self.event = event
        self.data = data
        self.id = id
    }

    /// The call; `seenSeconds` is how long a retry is recognised, `top` the last event that is known of the topic.
    public func call(
        _ script: ScriptID, keys: Keys, policy: NamespacePolicy, seenSeconds: Int,
        _ moment: CommandCallBuilder.Moment, top: Position?
    ) -> ScriptCall {
        let meta = keys.meta(topic)
        let numbers = [
            moment.nowMs, policy.logEventsMax, policy.logSeconds, policy.positionSeconds, seenSeconds,
        ]
        let texts = numbers.map { number in
            var text: [UInt8] = []
            text.append(decimal: number)
            return text
        }
        return ScriptCall(
            script: script, keys: [keys.log(topic), meta, id.map { keys.seen(topic, $0) } ?? meta],
            arguments: [keys.channel(topic), event.bytes, data, id?.bytes ?? [UInt8(ascii: "-")]] + texts
                + [moment.epoch, moment.run, top?.fenceText ?? []])
    }
}
