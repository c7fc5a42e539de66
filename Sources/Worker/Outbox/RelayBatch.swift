/// The number of stream entries read at once: many small ones, or few large ones; pure.
struct RelayBatch {
    /// Entries to request, 8...1,024.
    private(set) var count = 256

    private static let range = 8...1_024
    /// Bytes of a reading above which the next one requests fewer entries.
    private static let bytesMax = 1 << 20

    /// Takes the size of a reading; `isFull`: it has as many entries as were requested.
    mutating func read(bytes: Int, isFull: Bool) {
        if bytes > RelayBatch.bytesMax {
            count = max(count / 2, RelayBatch.range.lowerBound)
        } else if isFull && bytes < RelayBatch.bytesMax / 2 {
            count = min(count * 2, RelayBatch.range.upperBound)
        }
    }
}
