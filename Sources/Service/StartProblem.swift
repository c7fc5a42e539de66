public import Reactors

/// The reason why a process cannot start, in sentences for its operator.
public struct StartProblem: Error, Sendable, CustomStringConvertible {
    /// The fault and its place.
    public let description: String

    /// A problem with that description.
    public init(_ description: String) {
        self.description = description
    }

    /// A problem with a file that cannot be read or written.
    public static func file(_ path: String, _ failure: Errno) -> StartProblem { StartProblem("\(path): \(failure)") }
}
