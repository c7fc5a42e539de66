/// An embedded script that the configuration leaves out.
public struct DisabledScript: Equatable, Sendable {
    /// The name of the command, refresh or file.
    public let name: String
    /// The reason, such as `namespace dj is not configured`.
    public let reason: String
}
