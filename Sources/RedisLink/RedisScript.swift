/// A Lua script as Redis identifies it: by the SHA-1 of its source.
public struct RedisScript: Equatable, Sendable {
    /// The script's name, for logs and metrics.
    public let name: String
    /// The whole source, prelude included.
    public let source: [UInt8]
    /// The SHA-1 of the source, 40 lower-case hexadecimal digits: its name in `EVALSHA`.
    public let digest: [UInt8]
}
