/// Which entries of the outbox are done: an entry is when all its parts are.
///
/// Pure.
struct OutboxBook {
    /// The entries of a stream with several parts, and how many of them are left.
    private var left: [Int: [[UInt8]: Int]] = [:]
    /// The ids of entries that are done and not deleted yet, by stream.
    private var done: [Int: [[UInt8]]] = [:]

    /// An entry was read.
    mutating func began(_ entry: OutboxEntry) {
        if entry.items.count > 1 { left[entry.stream ?? 0, default: [:]][entry.id] = entry.items.count }
    }

    /// A part was done, or given up.
    mutating func finished(_ part: OutboxEntry.Part) {
        let (stream, id) = (part.entry.stream ?? 0, part.entry.id)
        guard let count = left[stream]?[id], count > 1 else {
            left[stream]?[id] = nil
            if left[stream]?.isEmpty == true { left[stream] = nil }
            return done[stream, default: []].append(id)
        }
        left[stream]?[id] = count - 1
    }

    /// Takes the ids of the entries to delete, by stream.
    mutating func take() -> [Int: [[UInt8]]] {
        defer { done = [:] }
        return done
    }
}
