/// The limits of one reply of Redis (failure catalogue R14): a reader never holds more than this for a hostile server.
public struct RESPLimits: Equatable, Sendable {
    /// Bytes of one reply on the wire, headers included; also the most a bulk string may announce.
    public let replyBytesMax: Int
    /// Values in all arrays of one reply together, counted when an array announces them.
    public let elementsMax: Int
    /// Bytes of one status or error line.
    public let lineBytesMax: Int

    /// Makes limits.
    public init(replyBytesMax: Int, elementsMax: Int, lineBytesMax: Int) {
        self.replyBytesMax = replyBytesMax
        self.elementsMax = elementsMax
        self.lineBytesMax = lineBytesMax
    }
}
