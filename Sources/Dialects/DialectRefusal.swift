public import Core

/// The reason why a dialect could not make a request of a client message.
public struct DialectRefusal: Error, Equatable, Sendable {
    /// The refusal that is sent to the client.
    public let refusal: Refusal
    /// The message's reference, when it could still be read; the answer repeats it.
    public let ref: Reference?
    /// Set when the protocol demands that the connection ends; `nil` keeps it.
    public let close: CloseReason?

    /// Makes a refusal.
    public init(refusal: Refusal, ref: Reference?, close: CloseReason?) {
        self.refusal = refusal
        self.ref = ref
        self.close = close
    }
}
