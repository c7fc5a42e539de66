/// The reason why a step of a test could not be played, in a sentence for the author of the test.
public struct PlayFailure: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
