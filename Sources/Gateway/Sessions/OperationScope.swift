import Commands
import Dialects
import Rights

/// What the commands of one session share: an order, and a scope for the names that its client gives operations.
struct OperationScope {
    /// Commands of one lane run in the order they came; taken with the first.
    var lane: UInt64?
    private var drawn: [UInt8] = []

    init() {}

    /// Tells this connection's names from another's: random, drawn with the first command.
    var scope: [UInt8] {
        mutating get {
            if drawn.isEmpty { drawn = SecureRandom.bytes(12) }
            return drawn
        }
    }

    /// The operation that a client's name stands for.
    mutating func id(_ name: OperationName) -> OperationID {
        switch name {
        case .named(let id): .named(id)
        case .numbered(let number): .numbered(connection: scope, number: number)
        }
    }
}
