public import Core

/// The name that a caller gives an operation, so that a retry does nothing twice.
public enum OperationID: Hashable, Sendable {
    /// An id that the caller chose: it is valid on every connection and node.
    case named(MessageID)
    /// A number that is valid within one connection only; `connection` is random and unique.
    case numbered(connection: [UInt8], number: [UInt8])

    /// The fields that distinguish operations of one caller.
    var fields: [[UInt8]] {
        switch self {
        case .named(let id): [id.bytes]
        case .numbered(let connection, let number): [connection, number]
        }
    }
}
