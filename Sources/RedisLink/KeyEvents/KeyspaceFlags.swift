/// The wish for a server's `notify-keyspace-events`.
public struct KeyspaceFlags {
    /// State of the setting at a server.
    public enum State: Equatable, Sendable {
        /// Every wanted event is reported.
        case on
        /// The same, because the setting was changed now.
        case switchedOn
        /// These flags have to be set, and this process must not set them.
        case off(flags: [UInt8])
        /// These flags have to be set, and the server refused them.
        case refused(RedisFailure, flags: [UInt8])
        /// The server did not show the setting.
        case hidden(RedisFailure)
    }

    /// Flags of all events that are wanted (Redis documentation, "Keyspace notifications").
    let wanted: [UInt8]
    /// Whether this process sets them.
    public let maySet: Bool
    /// Milliseconds between two checks: another client may change the setting at any time.
    public let everyMs: Int

    /// `A` stands for every class but `m` (missed) and `n` (new).
    private static let all = UInt8(ascii: "A")

    /// A wish for the events of some flags.
    public init(_ wanted: [UInt8], maySet: Bool, everyMs: Int) {
        self.wanted = wanted
        self.maySet = maySet
        self.everyMs = everyMs
    }

    /// The flags to set, with the present ones kept; `nil` when nothing is missing.
    func merged(_ current: [UInt8]) -> [UInt8]? {
        let missing = wanted.filter { flag in
            !current.contains(flag) && (flag == UInt8(ascii: "K") || !current.contains(KeyspaceFlags.all))
        }
        return missing.isEmpty ? nil : current + missing
    }
}
