/// The limits of one message from a peer; a decoder refuses more before it buffers it.
public struct WebSocketLimits: Sendable, Equatable {
    /// Bytes of one message, over all its fragments; a message of exactly this size is accepted, one more is 1009.
    public var messageBytesMax: Int
    /// Frames of one message, empty ones included, at least 1; one more is 1008.
    ///
    /// An unfragmented message counts 1.
    public var fragmentsMax: Int

    /// Makes limits; there are no defaults here (they are in `Core.Limits`).
    public init(messageBytesMax: Int, fragmentsMax: Int) {
        self.messageBytesMax = messageBytesMax
        self.fragmentsMax = fragmentsMax
    }
}
