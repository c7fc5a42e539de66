/// How many entries of a stream are read at once: many small ones, or few large ones; pure.
struct RelayBatch {
    /// Entries to ask for, 8...1,024.
    private(set) var count = 256

    private static let range = 8...1_024
    /// From so many bytes on, fewer entries are read the next time.
    private static let bytesMax = 1 << 20

    /// A reading brought so many bytes; `isFull`: as many entries as were asked for.
    mutating func read(bytes: Int, isFull: Bool) {
        if bytes > RelayBatch.bytesMax {
            count = max(count / 2, RelayBatch.range.lowerBound)
        } else if isFull && bytes < RelayBatch.bytesMax / 2 {
            count = min(count * 2, RelayBatch.range.upperBound)
        }
    }
}
