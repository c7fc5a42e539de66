/// The value by which a client recognises the answer to a request; the answer repeats it unchanged.
///
/// Opaque to all code but the dialect that made it. In the native dialect it is the exact text of a JSON string or
/// number: `1.0` is returned as `1.0` and not as `1`. Other dialects pack the values that their answers must repeat.
public struct Reference: Hashable, Sendable {
    /// The exact bytes.
    public let bytes: [UInt8]

    /// The most bytes that a reference may have; dialects allow their clients fewer.
    public static let bytesMax = 1_024

    /// Stores a reference; `nil` when it is empty or longer than ``bytesMax``.
    ///
    /// The dialect is responsible for its syntax.
    public init?(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count >= 1 && count <= Reference.bytesMax else { return nil }
        self.bytes = Array(bytes)
    }
}
