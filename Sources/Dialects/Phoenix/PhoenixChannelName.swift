import Core

/// The one-to-one mapping between the names of Phoenix channels and topics.
///
/// The channel `realtime:order:42` is the topic `order:42`. A channel whose name has no colon, such as
/// `realtime:lobby`, is the topic `phoenix:lobby`. In full, `realtime:phoenix:lobby` is refused: a topic has one name
/// on the wire, since events are written once for all its members.
enum PhoenixChannelName {
    /// The namespace of channels without one.
    static let namespace = Array("phoenix".utf8)
    static let prefix = Array("realtime:".utf8)

    /// The reason why a name is no topic's; the client receives the text as the reason.
    enum Problem: Error, Equatable {
        /// The name does not begin with `realtime:`.
        case unmatched
        /// Nothing follows the prefix.
        case nameless
        /// The name breaks the grammar of topics, or writes the namespace of bare names in full.
        case invalid(String)

        var reason: String {
            switch self {
            case .unmatched: "unmatched topic"
            case .nameless: "TopicNameRequired: You must provide a topic name"
            case .invalid(let text): "InvalidTopic: " + text
            }
        }
    }

    /// The topic of a channel's full name.
    static func topic(_ channel: [UInt8]) -> Result<Topic, Problem> {
        guard channel.starts(with: prefix) else { return .failure(.unmatched) }
        let name = channel[prefix.count...]
        guard !name.isEmpty else { return .failure(.nameless) }
        if !name.contains(UInt8(ascii: ":")) {
            guard let topic = Topic(namespace: namespace, id: name) else {
                return .failure(
                    .invalid("A channel name without a colon has 1 to \(Topic.idBytesMax) of A-Z a-z 0-9 . _ ~ -"))
            }
            return .success(topic)
        }
        guard let topic = Topic(name) else {
            return .failure(
                .invalid(
                    "A channel name is namespace:id, e.g. order:42: the namespace a-z 0-9 -, the id 1 to "
                        + "\(Topic.idBytesMax) of A-Z a-z 0-9 . _ ~ : -"))
        }
        guard !topic.namespace.elementsEqual(namespace) else {
            return .failure(.invalid("Leave out phoenix: and name the channel by what follows it"))
        }
        return .success(topic)
    }

    /// The clients' name of a topic, which follows `realtime:`.
    static func name(of topic: Topic) -> ArraySlice<UInt8> {
        topic.namespace.elementsEqual(namespace) ? topic.id : topic.bytes[...]
    }

    /// The full name of a topic's channel; safe in JSON as it is.
    static func channel(of topic: Topic) -> [UInt8] { prefix + name(of: topic) }
}
