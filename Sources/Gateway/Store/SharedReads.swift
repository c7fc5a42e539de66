/// Runs reads that are the same once, for all who wait.
///
/// A read answers those who asked before it was sent, never those who asked later: what a caller has written before
/// he asks is in his answer. So while one is under way, whoever wants the same gathers for the next, and a key has at most
/// one read under way and one to follow. Pure.
struct SharedReads<Key: Hashable, Waiter> {
    private struct Line {
        /// Those whom the read under way answers; `nil` while none is.
        var asked: [Waiter]?
        /// Those whom the next one answers.
        var waiting: [Waiter]
    }

    private var lines: [Key: Line] = [:]

    /// Whether a read that is not sent yet will answer whoever asks now.
    func rides(_ key: Key) -> Bool { lines[key].map { !$0.waiting.isEmpty } ?? false }

    /// Lets somebody wait; true when the read is to be queued now.
    ///
    /// Otherwise one is queued already, or ``answered(_:)`` will say so.
    mutating func add(_ waiter: Waiter, _ key: Key) -> Bool {
        guard lines[key] != nil else {
            lines[key] = Line(asked: nil, waiting: [waiter])
            return true
        }
        lines[key]?.waiting.append(waiter)
        return false
    }

    /// The read was sent: whoever waits is asked for.
    mutating func sent(_ key: Key) {
        guard let line = lines[key] else { return }
        lines[key] = Line(asked: line.waiting, waiting: [])
    }

    /// The read under way was answered: takes those whom it answers, and tells who was first to want the next, which is to
    /// be queued now; `nil` when nobody does.
    mutating func answered(_ key: Key) -> (waiters: [Waiter], next: Waiter?) {
        guard let line = lines[key] else { return ([], nil) }
        lines[key] = line.waiting.isEmpty ? nil : Line(asked: nil, waiting: line.waiting)
        return (line.asked ?? [], line.waiting.first)
    }

    /// The queued read will not be sent: takes those who wait for it.
    mutating func refused(_ key: Key) -> [Waiter] {
        guard let line = lines[key], line.asked == nil else { return [] }
        lines[key] = nil
        return line.waiting
    }
}
