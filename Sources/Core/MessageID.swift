/// The idempotency key of a publish: `[A-Za-z0-9._~:-]{1,128}`; a retry with the same id stores and delivers nothing.
public struct MessageID: Hashable, Sendable {
    /// The id, ASCII.
    public let bytes: [UInt8]

    /// The most bytes an id may have.
    public static let bytesMax = 128

    /// Reads an id; `nil` when it is out of the grammar.
    ///
    /// A lone `-` means "none" in channel messages and is refused.
    public init?(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count >= 1 && count <= MessageID.bytesMax else { return nil }
        if count == 1 && bytes.first == UInt8(ascii: "-") { return nil }
        let valid = bytes.allSatisfy {
            ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "~")
        }
        guard valid else { return nil }
        self.bytes = Array(bytes)
    }
}
