public import Core

/// An event that somebody wants to publish, whatever door it came by; valid in itself.
public struct PublishRequest: Equatable, Sendable {
    /// Where it is published.
    public let topic: Topic
    /// Its name; never one of the gateway's own words.
    public let event: EventName
    /// One validated JSON object, byte for byte as it came.
    public let data: [UInt8]
    /// Makes a retry harmless; `nil` when the publisher gave none.
    public let id: MessageID?
    /// Whether the publisher does not want to hear the event itself.
    public var isForOthers = false

    /// Makes a request of parts that were read before.
    public init(topic: Topic, event: EventName, data: [UInt8], id: MessageID?) {
        self.topic = topic
        self.event = event
        self.data = data
        self.id = id
    }
}
