/// The rules of a WebSocket at a path: the topics that it joins, and the values that its client may leave out.
///
/// They grant nothing: each topic is joined with the client's own rights, as if the client had asked for it.
public struct SocketRules: Sendable, Equatable {
    /// The topics that are joined for the client; those with ``TopicTemplate/user`` once its user is known.
    public var join: [TopicTemplate]
    /// The namespace that a member such as `shopId` stands for on this socket.
    public var alias: [String: String]
    /// Arguments that commands may leave out: the client's last topic, or the path, supplies them.
    public var fill: [String]
    /// Whether arguments in the path are read in lower case.
    public var foldsPath: Bool
    /// The event that tells the state of a joined topic, by the topic's namespace; for clients that read no states.
    public var first: [String: EventName]

    /// The most topics that a socket joins by itself.
    public static let joinMax = 16

    /// Makes rules; those of a plain socket without arguments.
    public init(
        join: [TopicTemplate] = [], alias: [String: String] = [:], fill: [String] = [], foldsPath: Bool = false,
        first: [String: EventName] = [:]
    ) {
        self.join = join
        self.alias = alias
        self.fill = fill
        self.foldsPath = foldsPath
        self.first = first
    }

    /// Whether a name may be an alias, or be filled in: letters and digits that end in `Id`, such as `shopId`.
    public static func isMember(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count > 2 && bytes.count <= Topic.namespaceBytesMax + 2 && ASCII.isLower(bytes[0])
            && name.hasSuffix("Id") && bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) }
    }
}
