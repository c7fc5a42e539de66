public import Core

/// What a client's reference says about the operation it stands for.
public enum OperationName: Hashable, Sendable {
    /// The same operation wherever and whenever it is repeated.
    case named(MessageID)
    /// A number, which clients count anew on every connection: the same operation on this connection only.
    case numbered([UInt8])
}
