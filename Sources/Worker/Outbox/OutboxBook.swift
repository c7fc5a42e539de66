/// Which entries of the outbox are done: an entry is when all its parts are.
///
/// Pure.
struct OutboxBook {
    /// Entries with several parts, and how many of them are left.
    private var left: [[UInt8]: Int] = [:]
    /// The ids of entries that are done and not deleted yet.
    private(set) var done: [[UInt8]] = []

    /// An entry was read.
    mutating func began(_ entry: OutboxEntry) {
        if entry.items.count > 1 { left[entry.id] = entry.items.count }
    }

    /// A part was done, or given up.
    mutating func finished(_ part: OutboxEntry.Part) {
        guard let count = left[part.entry.id], count > 1 else {
            left[part.entry.id] = nil
            return done.append(part.entry.id)
        }
        left[part.entry.id] = count - 1
    }

    /// Takes the ids of the entries to delete.
    mutating func take() -> [[UInt8]] {
        defer { done = [] }
        return done
    }
}
