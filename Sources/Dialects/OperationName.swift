public import Core

/// The operation that a client's reference identifies.
public enum OperationName: Hashable, Sendable {
    /// The same operation wherever and whenever the name is repeated.
    case named(MessageID)
    /// A number, which clients restart on every connection: the same operation on this connection only.
    case numbered([UInt8])
}
