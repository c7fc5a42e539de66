/// A script that tells the state of a namespace's topics to new subscribers.
public struct StateProvider: Sendable {
    /// The namespace.
    public let namespace: String
    /// The script.
    public let file: ScriptFile
    /// The parts it includes, in their order; they are put before its text.
    public internal(set) var parts: [ScriptFile] = []
    /// Its keys, in the order of `KEYS` from the third; their variable is `id`, the topic's id.
    public let keys: [KeyDeclaration]
    /// How long Redis takes to tell the state at the script's limits, microseconds; reading the position comes on top.
    public let weightMicroseconds: Int
    /// Whether the header says the weight.
    public let isWeightDeclared: Bool

    /// The script's name in the registry: `state/NAMESPACE`.
    public var scriptName: String { "state/" + namespace }

    /// The name of its other script, `position/NAMESPACE`.
    public var positionName: String { "position/" + namespace }
}
