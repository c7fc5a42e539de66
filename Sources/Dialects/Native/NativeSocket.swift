public import Core

/// The rules of the path at which a client connected, with the values in the path.
///
/// Immutable; shared by the connections of a path without arguments.
public final class NativeSocket: Sendable {
    private let rules: SocketRules
    private let values: [String: [UInt8]]
    /// The topics that are joined before the client's user is known.
    let topics: [Topic]
    /// The arguments that commands may leave out, each with its value in the path and the namespace whose topics
    /// override it.
    let fillers: [Filler]

    /// An argument that a command may leave out.
    struct Filler: Sendable {
        let name: String
        let namespace: [UInt8]?
        let fallback: [UInt8]?
    }

    /// A socket that implies nothing.
    public static let plain = NativeSocket(checked: SocketRules(), [:], [])

    /// A socket whose path has these values; `nil` when the values make no valid topics.
    public init?(_ rules: SocketRules, _ values: [String: [UInt8]] = [:]) {
        let values = rules.foldsPath ? values.mapValues { $0.map(ASCII.lowercased) } : values
        let templates = rules.join.filter { !$0.needsUser }
        let topics = templates.compactMap { $0.topic(values) }
        guard topics.count == templates.count else { return nil }
        self.rules = rules
        self.values = values
        self.topics = NativeSocket.distinct(topics)
        fillers = NativeSocket.fillers(rules, values)
    }

    private init(checked rules: SocketRules, _ values: [String: [UInt8]], _ topics: [Topic]) {
        self.rules = rules
        self.values = values
        self.topics = topics
        fillers = []
    }

    private static func fillers(_ rules: SocketRules, _ values: [String: [UInt8]]) -> [Filler] {
        rules.fill.map { name in
            let namespace = rules.alias[name].map { Array($0.utf8) } ?? TopicAlias.namespace(ofMember: name.utf8)
            return Filler(name: name, namespace: namespace, fallback: values[name])
        }
    }

    private static func distinct(_ topics: [Topic]) -> [Topic] {
        var seen: Set<Topic> = []
        return topics.filter { seen.insert($0).inserted }
    }

    /// The topics that are joined once the client's user is known.
    func topics(of user: [UInt8]) -> [Topic] {
        var values = values
        values[TopicTemplate.user] = user
        return NativeSocket.distinct(rules.join.filter(\.needsUser).compactMap { $0.topic(values) })
    }

    /// The namespace that a member stands for on this socket; `nil` when it stands for none.
    func namespace(ofMember name: some Collection<UInt8>) -> [UInt8]? {
        for (member, namespace) in rules.alias where name.elementsEqual(member.utf8) { return Array(namespace.utf8) }
        return TopicAlias.namespace(ofMember: name)
    }

    /// The event that tells a state on this socket, and the state; `nil` when the message tells none.
    func first(_ message: ServerMessage) -> (topic: Topic, event: EventName, state: [UInt8])? {
        guard !rules.first.isEmpty, case .subscribed(let topic, _, _, let state?) = message else { return nil }
        return rules.first.first { topic.namespace.elementsEqual($0.key.utf8) }.map { (topic, $0.value, state) }
    }

    /// The members that stand for a namespace on this socket alone.
    func members(of namespace: some Collection<UInt8>) -> [String] {
        rules.alias.isEmpty ? [] : rules.alias.filter { namespace.elementsEqual($0.value.utf8) }.map(\.key).sorted()
    }
}
