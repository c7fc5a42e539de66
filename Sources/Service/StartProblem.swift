public import Reactors

/// Why a process cannot start, in sentences for its operator.
public struct StartProblem: Error, Sendable, CustomStringConvertible {
    /// What is wrong, and where.
    public let description: String

    /// A problem in a sentence.
    public init(_ description: String) {
        self.description = description
    }

    /// A file that cannot be read or written.
    public static func file(_ path: String, _ failure: Errno) -> StartProblem { StartProblem("\(path): \(failure)") }
}
