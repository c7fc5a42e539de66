/// Runs equal reads once, for all callers that wait.
///
/// A read answers the callers that asked before it was sent, never later ones: the answer contains everything that a
/// caller wrote before asking. While one is under way, further callers wait for the next. A key has at most one read
/// under way and one to follow. Pure.
struct SharedReads<Key: Hashable, Waiter> {
    private struct Line {
        /// The callers of the read under way; `nil` while there is none.
        var asked: [Waiter]?
        /// The callers of the next read.
        var waiting: [Waiter]
    }

    private var lines: [Key: Line] = [:]

    /// Whether a read that is not sent yet will answer a caller that asks now.
    func isCoalesced(_ key: Key) -> Bool { lines[key].map { !$0.waiting.isEmpty } ?? false }

    /// Adds a caller; true when the read has to be queued now.
    ///
    /// Otherwise one is queued already, or ``answered(_:)`` will report it.
    mutating func add(_ waiter: Waiter, _ key: Key) -> Bool {
        guard lines[key] != nil else {
            lines[key] = Line(asked: nil, waiting: [waiter])
            return true
        }
        lines[key]?.waiting.append(waiter)
        return false
    }

    /// The read was sent: it will answer the waiting callers.
    mutating func sent(_ key: Key) {
        guard let line = lines[key] else { return }
        lines[key] = Line(asked: line.waiting, waiting: [])
    }

    /// The read under way was answered: returns its callers, and the first caller of the next read.
    ///
    /// The next read has to be queued now; `nil` when no caller waits for it.
    mutating func answered(_ key: Key) -> (waiters: [Waiter], next: Waiter?) {
        guard let line = lines[key] else { return ([], nil) }
        lines[key] = line.waiting.isEmpty ? nil : Line(asked: nil, waiting: line.waiting)
        return (line.asked ?? [], line.waiting.first)
    }

    /// The queued read will not be sent: returns its callers.
    mutating func refused(_ key: Key) -> [Waiter] {
        guard let line = lines[key], line.asked == nil else { return [] }
        lines[key] = nil
        return line.waiting
    }
}
