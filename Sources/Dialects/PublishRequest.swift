public import Core

/// An event that a client or service wants to publish, from any protocol; valid in itself.
public struct PublishRequest: Equatable, Sendable {
    /// The topic of the event.
    public let topic: Topic
    /// Its name; never one of the gateway's own words.
    public let event: EventName
    /// One validated JSON object, byte for byte as received.
    public let data: [UInt8]
    /// The id that makes a retry harmless; `nil` when the publisher gave none.
    public let id: MessageID?
    /// Whether the event is not sent to its own publisher.
    public var isForOthers = false

    /// Makes a request of parts that were read before.
    public init(topic: Topic, event: EventName, data: [UInt8], id: MessageID?) {
        self.topic = topic
        self.event = event
        self.data = data
        self.id = id
    }
}
