public import Core

/// A script that sends the state of a namespace's topics to new subscribers.
///
/// With `@state` everybody receives the same state. With `@subscribe` the script first decides whether the caller may
/// subscribe, and each caller receives a state of its own.
public struct StateProvider: Sendable {
    /// The namespace.
    public let namespace: String
    /// The script.
    public let file: ScriptFile
    /// The parts that it includes, in order; they stand before its text.
    public internal(set) var parts: [ScriptFile] = []
    /// Its keys, in the order of `KEYS` from the third.
    ///
    /// `id` is the topic's id, and `user` is the caller of `@subscribe`.
    public let keys: [KeyDeclaration]
    /// The time that Redis needs for the state at the script's limits, in microseconds; reading the position is extra.
    public let weightMicroseconds: Int
    /// Whether the header declares the weight.
    public let isWeightDeclared: Bool
    /// Whether it is a `@subscribe` script.
    public let isPersonal: Bool
    /// The errors with which a `@subscribe` script may refuse; `bad_request` and the gateway's other codes are not
    /// listed.
    public let errors: [DeclaredError]
    /// The state, when there is one.
    public internal(set) var value: DeclaredValue
    /// The line of the header that declares the state.
    let valueLine: Int

    /// The script's name in the registry: `state/NAMESPACE`.
    public var scriptName: String { "state/" + namespace }

    /// The name of its other script, `position/NAMESPACE`.
    public var positionName: String { "position/" + namespace }

    /// The text in keys for a caller without a user; no user has this name.
    public static let nobody = [UInt8(ascii: "*")]

    /// The arguments that a call of a `@subscribe` script gets for its caller.
    public static func arguments(_ topic: Topic, _ caller: CommandCaller, nowMs: Int) -> [[UInt8]] {
        var now: [UInt8] = []
        now.append(decimal: nowMs)
        return [now, caller.user ?? [], caller.roleText, Array(topic.id)]
    }

    /// A `@subscribe` script as a command that nobody can call, so that bodies can be checked against it.
    var descriptor: CommandDescriptor {
        var descriptor = CommandDescriptor(name: namespace, file: file)
        descriptor.isReadOnly = true
        descriptor.keys = keys
        descriptor.parts = parts
        descriptor.errors = errors
        descriptor.arguments = [
            ArgumentDeclaration(name: "id", wire: "id", type: .id, presence: .required, fold: nil, text: "")
        ]
        return descriptor
    }

    /// The refusal in the reply of a `@subscribe` script.
    ///
    /// `nil` when the reply is no refusal but a fault of the script.
    public func refusal(_ detail: String) -> Refusal? {
        guard let (word, rest) = HeaderText.cut(detail, at: " "), word == "FAIL" else { return nil }
        let (code, message) = HeaderText.cut(rest, at: " ") ?? (rest, "")
        return descriptor.error(code).map { Refusal(named: $0.code, status: $0.status, message) }
    }
}
