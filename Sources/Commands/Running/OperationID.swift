public import Core

/// The name a caller gives an operation, so that a retry does nothing twice.
public enum OperationID: Hashable, Sendable {
    /// An id of the caller's choice: it holds on every connection and node.
    case named(MessageID)
    /// A number that counts within one connection only; `connection` is random and unique.
    case numbered(connection: [UInt8], number: [UInt8])

    /// What tells operations of one caller apart.
    var fields: [[UInt8]] {
        switch self {
        case .named(let id): [id.bytes]
        case .numbered(let connection, let number): [connection, number]
        }
    }
}
