/// What a client attached to a request so as to know its answer; handed back as it came.
///
/// Opaque to all but the dialect that made it. In the native dialect it is the exact text of a JSON string or
/// number, so that `1.0` comes back as `1.0` and not as `1`; others pack what their answers must repeat.
public struct Reference: Hashable, Sendable {
    /// The exact bytes.
    public let bytes: [UInt8]

    /// The most bytes that a reference may have; dialects allow their clients fewer.
    public static let bytesMax = 1_024

    /// Keeps a reference; `nil` when it is empty or longer than ``bytesMax``.
    ///
    /// The dialect answers for its syntax.
    public init?(_ bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count >= 1 && count <= Reference.bytesMax else { return nil }
        self.bytes = Array(bytes)
    }
}
