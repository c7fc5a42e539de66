/// The name of an event's publishing session, which does not want its own events: `[A-Za-z0-9_-]{1,32}`.
///
/// The session draws it at random; Redis carries it with the event, and no client receives it.
public struct EchoExclusion: Hashable, Sendable {
    /// The name, ASCII.
    public let bytes: [UInt8]

    /// The most bytes a name may have.
    public static let bytesMax = 32

    /// Reads a name; `nil` when it is out of the grammar.
    public init?(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count >= 1 && count <= EchoExclusion.bytesMax else { return nil }
        let isValid = bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
        guard isValid else { return nil }
        self.bytes = Array(bytes)
    }
}
