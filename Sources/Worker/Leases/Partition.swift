import Core

/// The units of work that workers share: ids, by a hash that is the same on every machine, and the outbox.
///
/// All refreshes of one id are in one partition, whatever script they run.
enum Partition {
    /// Partitions of ids, numbered from 0.
    static let ids = 64
    /// The partition of the outbox.
    static let outbox = 64
    /// The number of partitions.
    static let count = 65

    /// The partition of an id.
    static func of(_ id: some Sequence<UInt8>) -> Int {
        Int(StableHash.of(id) % UInt64(ids))
    }
}
