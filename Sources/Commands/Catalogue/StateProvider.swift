public import Core

/// A script that tells the state of a namespace's topics to new subscribers: by `@state` the same to everybody, by
/// `@subscribe` to each caller its own, after it has decided whether the caller may join.
public struct StateProvider: Sendable {
    /// The namespace.
    public let namespace: String
    /// The script.
    public let file: ScriptFile
    /// The parts it includes, in their order; they are put before its text.
    public internal(set) var parts: [ScriptFile] = []
    /// Its keys, in the order of `KEYS` from the third; `id` is the topic's id, and `user` the caller of `@subscribe`.
    public let keys: [KeyDeclaration]
    /// How long Redis takes to tell the state at the script's limits, microseconds; reading the position comes on top.
    public let weightMicroseconds: Int
    /// Whether the header says the weight.
    public let isWeightDeclared: Bool
    /// Whether it is a `@subscribe` script.
    public let isPersonal: Bool
    /// What a `@subscribe` script may refuse with, `bad_request` and the other codes of the gateway not listed.
    public let errors: [DeclaredError]

    /// The script's name in the registry: `state/NAMESPACE`.
    public var scriptName: String { "state/" + namespace }

    /// The name of its other script, `position/NAMESPACE`.
    public var positionName: String { "position/" + namespace }

    /// What stands for the caller in keys when there is no user; no user is called so.
    public static let nobody = [UInt8(ascii: "*")]

    /// What a caller adds to the arguments of a `@subscribe` script.
    public static func arguments(_ topic: Topic, _ caller: CommandCaller, nowMs: Int) -> [[UInt8]] {
        var now: [UInt8] = []
        now.append(decimal: nowMs)
        return [now, caller.user ?? [], caller.roleText, Array(topic.id)]
    }

    /// A `@subscribe` script as a command that nobody can call, for what bodies are checked against.
    var descriptor: CommandDescriptor {
        var descriptor = CommandDescriptor(name: namespace, file: file)
        descriptor.isReadOnly = true
        descriptor.keys = keys
        descriptor.parts = parts
        descriptor.errors = errors
        descriptor.arguments = [
            ArgumentDeclaration(name: "id", wire: "id", type: .id, presence: .required, folds: false, text: "")
        ]
        return descriptor
    }

    /// Tells why a `@subscribe` script lets a caller not join, by the words of its reply.
    ///
    /// `nil` when the reply is no refusal but a fault of the script.
    public func refusal(_ detail: String) -> Refusal? {
        guard let (word, rest) = HeaderText.cut(detail, at: " "), word == "FAIL" else { return nil }
        let (code, message) = HeaderText.cut(rest, at: " ") ?? (rest, "")
        return descriptor.error(code).map { Refusal(named: $0.code, status: $0.status, message) }
    }
}
