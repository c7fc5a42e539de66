import Configuration
import Core

/// The topics and events that a receiver gets; pure.
struct WebhookPatterns: Sendable {
    private let topics: Set<Topic>
    private let namespaces: Set<[UInt8]>
    private let events: [[UInt8]]

    init(_ settings: WebhookSettings) {
        topics = Set(settings.topics.compactMap { Topic($0) })
        namespaces = Set(
            settings.topics.filter { $0.hasSuffix(":*") && Topic($0) == nil }.map { Array($0.utf8.dropLast(2)) })
        events = settings.events.map { Array($0.utf8) }
    }

    /// Whether the receiver gets events of the topic.
    func takes(_ topic: Topic) -> Bool {
        topics.contains(topic) || namespaces.contains(Array(topic.namespace))
    }

    /// Whether the receiver gets events of that name.
    func takes(event name: [UInt8]) -> Bool {
        events.isEmpty
            || events.contains { $0.last == UInt8(ascii: "*") ? name.starts(with: $0.dropLast()) : name == $0 }
    }

    /// The patterns of channels for all its namespaces, and the channels of its topics.
    func channels(_ keys: Keys) -> (patterns: [[UInt8]], channels: [[UInt8]]) {
        (namespaces.map { keys.prefix + $0 + Array(":*".utf8) }, topics.map { keys.channel($0) })
    }

    /// The patterns of all logs of its namespaces, and the logs of its topics, each without the facet.
    func logs(_ keys: Keys) -> (patterns: [[UInt8]], channels: [[UInt8]]) {
        (namespaces.map { keys.prefix + $0 + Array((":" + keys.anyID).utf8) }, topics.map { keys.channel($0) })
    }
}
