/// The listeners that expect a PROXY header (haproxy's proxy-protocol.txt, versions 1 and 2) from trusted addresses.
public enum ProxyProtocol: String, CaseIterable, Sendable {
    /// None.
    case off
    /// The listener of `--listen`; the header precedes TLS.
    case tls
    /// The listener of `--listen-plain`.
    case plain
    /// Both.
    case both

    /// Whether the TLS listener expects the header.
    public var onTLS: Bool { self == .tls || self == .both }
    /// Whether the plain listener expects the header.
    public var onPlain: Bool { self == .plain || self == .both }
}

/// The backends' older ways to publish that the gateway takes (`--bridge`).
public enum BridgeKind: String, CaseIterable, Sendable {
    /// None.
    case off
    /// Socket.IO's emitter for Redis.
    case socketIO = "socketio"
    /// The managers of python-socketio for Redis.
    case pythonSocketIO = "python-socketio"
}

/// Whether the worker may change Redis's `notify-keyspace-events`.
public enum KeyspaceEvents: String, CaseIterable, Sendable {
    /// The worker adds missing flags when the Redis user may.
    case auto
    /// The worker only checks it.
    case never
}

/// The form of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
    /// `key=value`.
    case text
    /// One JSON object on each line.
    case json
}

/// The importance of a log line, ordered from most to least.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// A fault that needs a person.
    case error
    /// A fault that was handled.
    case warn
    /// A change of state.
    case info
    /// Details for developers.
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
