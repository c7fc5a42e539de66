import Core

/// The facts that a Redis server reports: `INFO server replication persistence cluster memory` and `CONFIG GET`.
///
/// They are read at each connect. The run id is part of the fence of failure catalogue 2.3, and the role decides
/// whether the connection is kept.
public struct ServerFacts: Equatable, Sendable {
    /// The role of the server, which decides whether it accepts writes.
    public enum Role: Equatable, Sendable {
        /// `role:master`.
        case master
        /// `role:slave`.
        case replica
        /// `redis_mode:sentinel`: a Sentinel, without data.
        case sentinel
    }

    /// Identifies one life of the server process; 40 hexadecimal digits.
    public let runID: [UInt8]
    /// The numbers of `redis_version`: major, minor, patch.
    public let version: [Int]
    /// Master or replica.
    public let role: Role
    /// Whether the data set is still being read from disk.
    public let isLoading: Bool
    /// Whether every write goes to the append-only file (`aof_enabled`).
    public private(set) var hasAppendOnlyFile: Bool
    /// Whether the server is a node of a cluster (`redis_mode:cluster` or `cluster_enabled:1`).
    public let isNodeOfCluster: Bool
    /// The last answer of `INFO replication`.
    public private(set) var replication: ReplicationFacts
    /// Replicas connected to this master.
    public var connectedReplicas: Int { replication.connectedReplicas }
    /// `maxmemory_policy`; `nil` when `INFO memory` was not read.
    public let evictionPolicy: [UInt8]?
    /// Whether every write is on disk before it is answered, even while the file is rewritten; known after
    /// ``apply(config:)``.
    public private(set) var syncsEveryWrite = false
    /// Whether the server has reported its settings of persistence; a host or an ACL may forbid `CONFIG GET`.
    public private(set) var tellsPersistence = false
    /// Seconds that the process had run when it was asked (`uptime_in_seconds`); 0 when it was not reported.
    public let uptimeSeconds: Int
    /// Whether nothing is synced while the append-only file is rewritten (`no-appendfsync-on-rewrite`).
    public private(set) var pausesSyncs = false
    /// `notify-keyspace-events`; known after ``apply(config:)``.
    public private(set) var keyspaceEvents: [UInt8]?

    /// Reads the text of `INFO`; `nil` without a run id, version or role.
    public init?(info text: [UInt8]) {
        let fields = InfoFields(text)
        func isSet(_ name: String) -> Bool { fields[name]?.elementsEqual("1".utf8) == true }
        guard let runID = fields["run_id"], runID.count == 40, runID.allSatisfy({ ASCII.hexValue($0) != nil }),
            let version = fields["redis_version"].flatMap(ServerFacts.version), let role = ServerFacts.role(fields)
        else { return nil }
        self.runID = Array(runID)
        self.version = version
        self.role = role
        replication = ReplicationFacts(fields)
        isLoading = isSet("loading") || isSet("async_loading")
        hasAppendOnlyFile = isSet("aof_enabled")
        isNodeOfCluster = isSet("cluster_enabled") || fields["redis_mode"]?.elementsEqual("cluster".utf8) == true
        evictionPolicy = fields["maxmemory_policy"].map { Array($0) }
        uptimeSeconds = fields["uptime_in_seconds"].flatMap { ASCII.decimal($0) } ?? 0
    }

    /// Takes the answer of `CONFIG GET`; names that it lacks stay unknown.
    public mutating func apply(config: [[UInt8]: [UInt8]]) {
        if let value = config[Array("appendonly".utf8)] { hasAppendOnlyFile = value.elementsEqual("yes".utf8) }
        if let value = config[Array("appendfsync".utf8)] {
            tellsPersistence = true
            pausesSyncs = config[Array("no-appendfsync-on-rewrite".utf8)]?.elementsEqual("yes".utf8) == true
            syncsEveryWrite = hasAppendOnlyFile && !pausesSyncs && value.elementsEqual("always".utf8)
        }
        if let value = config[Array("notify-keyspace-events".utf8)] { keyspaceEvents = value }
    }

    /// Takes a new answer of `INFO replication`; the caller judges the role.
    public mutating func apply(_ replication: ReplicationFacts) {
        self.replication = replication
    }

    /// Identifies the history that is written here: 40 hexadecimal digits.
    ///
    /// It is the replication id, which changes at each promotion and each start. A server that has never had a replica
    /// and never been one uses its run id instead. Such a server has one history, and with the run id nothing changes
    /// when the first connection of a newer gateway arrives.
    public var history: [UInt8] { replication.isUnused ? runID : replication.id }

    /// The text that scripts compare positions with: the history, followed by `+` when every answered write survives a
    /// restart.
    ///
    /// Two runs with the `+` share their epochs; all others do not. A server with replication never has the `+`,
    /// however often it syncs. Its data may come from another server with the end missing, or may become so after a
    /// failover. A node of a cluster never has it either, because slots move between its masters.
    public var fence: [UInt8] { isDurable ? runID + [UInt8(ascii: "+")] : history }

    /// Whether the fence has the `+`.
    var isDurable: Bool { syncsEveryWrite && replication.isUnused && !isNodeOfCluster }

    /// Whether keys may be evicted early when memory is short; only `noeviction` keeps logs complete.
    public var evictsKeys: Bool {
        guard let policy = evictionPolicy else { return false }
        return !policy.elementsEqual("noeviction".utf8)
    }

    /// Whether the version is at least the given one.
    public func isAtLeast(major: Int, minor: Int) -> Bool {
        version[0] > major || (version[0] == major && version[1] >= minor)
    }

    /// The question for the answer that ``apply(config:)`` takes.
    ///
    /// It is a pattern, since Redis before 7.0 accepts one name at a time.
    static let persistenceQuestion = RedisCall("CONFIG", Array("GET".utf8), Array("*append*".utf8))

    /// Reads the reply of `CONFIG GET`: names and values in turn; `nil` when it has another form.
    public static func config(_ reply: RESPValue) -> [[UInt8]: [UInt8]]? {
        guard let elements = reply.elements, elements.count % 2 == 0 else { return nil }
        var result: [[UInt8]: [UInt8]] = [:]
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard case .string(let name) = elements[index], case .string(let value) = elements[index + 1] else {
                return nil
            }
            result[name] = value
        }
        return result
    }

    private static func role(_ fields: InfoFields) -> Role? {
        guard let word = fields["role"] else {
            return fields["redis_mode"]?.elementsEqual("sentinel".utf8) == true ? .sentinel : nil
        }
        if word.elementsEqual("master".utf8) { return .master }
        return word.elementsEqual("slave".utf8) ? .replica : nil
    }

    /// Reads `7.0.15`, `7.2` or `8.0-rc1`: at least two numbers, padded to three.
    private static func version(_ text: ArraySlice<UInt8>) -> [Int]? {
        let digits = text.prefix { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
        var parts: [Int] = []
        for part in digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).prefix(3) {
            guard let number = ASCII.decimal(part) else { return nil }
            parts.append(number)
        }
        guard parts.count >= 2 else { return nil }
        if parts.count == 2 { parts.append(0) }
        return parts
    }
}
