/// One reply of Redis (RESP2).
///
/// Bytes are kept as bytes: a reply is untrusted and need not be UTF-8.
public enum RESPValue: Equatable, Sendable {
    /// A bulk string, `$`.
    case string([UInt8])
    /// A status line, `+`, such as `OK`.
    case status([UInt8])
    /// An error line, `-`; read it with ``RedisFailure/init(reply:)``.
    case error([UInt8])
    /// An integer, `:`.
    case integer(Int)
    /// An array, `*`.
    case array([RESPValue])
    /// The null bulk string `$-1` or the null array `*-1`.
    case null

    /// The bytes of a bulk string or status line; `nil` for every other kind.
    public var bytes: [UInt8]? {
        switch self {
        case .string(let bytes), .status(let bytes): bytes
        case .error, .integer, .array, .null: nil
        }
    }

    /// The elements of an array; `nil` for every other kind.
    public var elements: [RESPValue]? {
        if case .array(let values) = self { return values }
        return nil
    }

    /// The number of an integer reply; `nil` for every other kind.
    public var integer: Int? {
        if case .integer(let value) = self { return value }
        return nil
    }

    /// The failure that an error line represents; `nil` for every other kind.
    public var failure: RedisFailure? {
        if case .error(let line) = self { return RedisFailure(reply: line) }
        return nil
    }
}
