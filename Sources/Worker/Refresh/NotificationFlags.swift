import Core

/// The flags of `notify-keyspace-events` that the worker needs (Redis documentation, "Keyspace notifications").
enum NotificationFlags {
    /// Events by key, and every class of events that can change a value.
    ///
    /// The classes are generic (DEL, RENAME, EXPIRE), strings, lists, sets, hashes, sorted sets, streams, expired and
    /// evicted keys.
    static let needed = Array("Kg$lshzxet".utf8)
    /// `A` stands for every class but `m` (missed) and `n` (new).
    private static let all = UInt8(ascii: "A")

    /// The flags to set, with the present ones kept; `nil` when nothing is missing.
    static func merged(_ current: [UInt8]) -> [UInt8]? {
        let missing = needed.filter { flag in
            !current.contains(flag) && (flag == UInt8(ascii: "K") || !current.contains(all))
        }
        return missing.isEmpty ? nil : current + missing
    }
}
