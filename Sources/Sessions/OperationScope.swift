import Commands
import Dialects
import Rights

/// State that the commands of one session share: a lane, and a scope for the operation names of the client.
struct OperationScope {
    /// Commands of one lane run in the order in which they were received; `nil` until the first command.
    var lane: UInt64?
    private var drawn: [UInt8] = []

    init() {}

    /// Separates this connection's operation names from another's: 12 random bytes, drawn with the first command.
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
