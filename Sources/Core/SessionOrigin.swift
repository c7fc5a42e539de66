/// Which session an event came from, for one that does not want its own events back: `[A-Za-z0-9_-]{1,32}`.
///
/// Drawn at random by the session; it goes over Redis with the event and to no client.
public struct SessionOrigin: Hashable, Sendable {
    /// The name, ASCII.
    public let bytes: [UInt8]

    /// The most bytes a name may have.
    public static let bytesMax = 32

    /// Reads a name; `nil` when it is out of the grammar.
    public init?(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count >= 1 && count <= SessionOrigin.bytesMax else { return nil }
        let isValid = bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
        guard isValid else { return nil }
        self.bytes = Array(bytes)
    }
}
