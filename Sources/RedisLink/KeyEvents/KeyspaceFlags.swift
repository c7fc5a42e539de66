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

    /// The flags to set, given the present ones; `nil` when nothing is missing.
    public let merged: ([UInt8]) -> [UInt8]?
    /// Whether this process sets them.
    public let maySet: Bool
    /// Milliseconds between two checks: another client may change the setting at any time.
    public let everyMs: Int

    /// Makes a wish.
    public init(maySet: Bool, everyMs: Int, merged: @escaping ([UInt8]) -> [UInt8]?) {
        self.maySet = maySet
        self.everyMs = everyMs
        self.merged = merged
    }
}
