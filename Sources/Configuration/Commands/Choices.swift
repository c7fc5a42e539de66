/// Which listeners expect a PROXY header (haproxy's proxy-protocol.txt, versions 1 and 2) from trusted addresses.
public enum ProxyProtocol: String, CaseIterable, Sendable {
    /// None.
    case off
    /// The listener of `--listen`; the header comes before TLS.
    case tls
    /// The listener of `--listen-plain`.
    case plain
    /// Both.
    case both

    /// Whether the TLS listener expects it.
    public var onTLS: Bool { self == .tls || self == .both }
    /// Whether the plain listener expects it.
    public var onPlain: Bool { self == .plain || self == .both }
}

/// Whether the worker may change Redis's `notify-keyspace-events`.
public enum KeyspaceEvents: String, CaseIterable, Sendable {
    /// What is missing is added, when the Redis user may.
    case auto
    /// It is only looked at.
    case never
}

/// How log lines are written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// `key=value`.
    case text
    /// One JSON object a line.
    case json
}

/// How important a log line is; the order is from most to least.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Something is broken and needs a person.
    case error
    /// Something is wrong and was dealt with.
    case warn
    /// A change of state.
    case info
    /// For developers.
    case debug

    /// More important levels are smaller: a line is written when its level is at most the configured one.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .error: 0
        case .warn: 1
        case .info: 2
        case .debug: 3
        }
    }
}
