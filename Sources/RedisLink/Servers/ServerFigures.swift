import Core

/// The memory, evictions and persistence of a server, as `INFO` reports them.
public struct ServerFigures: Equatable, Sendable {
    /// The run id of the server's process: 40 hexadecimal digits.
    public let runID: [UInt8]
    /// Bytes in use (`used_memory`).
    public let usedBytes: Int
    /// Bytes that the server may use (`maxmemory`); 0 for no bound.
    public let boundBytes: Int
    /// `maxmemory_policy`, printable ASCII.
    public let evictionPolicy: String
    /// Keys evicted since the start of the server (`evicted_keys`).
    public let evictedKeys: Int
    /// Whether the append-only file is on (`aof_enabled`).
    public let hasAppendOnlyFile: Bool

    /// The call that asks for the figures.
    public static let question = RedisCall("INFO")

    /// Takes the figures unchanged.
    public init(
        runID: [UInt8], usedBytes: Int, boundBytes: Int, evictionPolicy: String, evictedKeys: Int,
        hasAppendOnlyFile: Bool
    ) {
        self.runID = runID
        self.usedBytes = usedBytes
        self.boundBytes = boundBytes
        self.evictionPolicy = evictionPolicy
        self.evictedKeys = evictedKeys
        self.hasAppendOnlyFile = hasAppendOnlyFile
    }

    /// Reads the answer to ``question``; `nil` when a figure is missing.
    public init?(_ answer: RESPValue) {
        guard let text = answer.bytes else { return nil }
        let fields = InfoFields(text)
        func number(_ name: String) -> Int? { fields[name].flatMap { ASCII.decimal($0) } }
        guard let runID = fields["run_id"], let usedBytes = number("used_memory"), let boundBytes = number("maxmemory"),
            let policy = fields["maxmemory_policy"],
            policy.allSatisfy({ ASCII.isDigit($0) || $0 == 0x2d || $0 > 0x60 }),
            let evictedKeys = number("evicted_keys")
        else { return nil }
        self.init(
            runID: Array(runID), usedBytes: usedBytes, boundBytes: boundBytes,
            evictionPolicy: String(decoding: policy, as: UTF8.self), evictedKeys: evictedKeys,
            hasAppendOnlyFile: fields["aof_enabled"]?.elementsEqual("1".utf8) == true)
    }

    /// Whether the server may evict keys.
    public var mayEvict: Bool { evictionPolicy != "noeviction" }

    /// The share of the memory that is in use, percent; 0 without a bound.
    public var percentUsed: Int { boundBytes > 0 ? usedBytes / max(boundBytes / 100, 1) : 0 }
}
