import Commands
import Dialects
import Rights

/// What the commands of one session share: an order, and a scope for the numbers by which its client calls them.
struct OperationScope {
    /// Commands of one lane run in the order they came; taken with the first.
    var lane: UInt64?
    /// Tells this connection's numbers from another's; drawn with the first.
    private var nonce: [UInt8] = []

    init() {}

    /// The operation that a client's name stands for.
    mutating func id(_ name: OperationName) -> OperationID {
        switch name {
        case .named(let id):
            return .named(id)
        case .numbered(let number):
            if nonce.isEmpty { nonce = SecureRandom.bytes(12) }
            return .numbered(connection: nonce, number: number)
        }
    }
}
