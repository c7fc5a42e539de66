public import Core
public import Dialects
public import HTTPCodec
public import Rights
public import Topics

/// The registry of dialects: the dialect that is spoken at a path, on each kind of transport.
///
/// A dialect is one entry here. Immutable; any thread.
public struct DialectRegistry: Sendable {
    /// One dialect's paths.
    public struct Entry: Sendable {
        /// Whole paths; each also matches with one slash appended.
        let paths: [String]
        /// The framing of the transport: an upgrade opens a WebSocket, other requests anything else.
        let framing: Framing
        /// The dialect, by the request's query; a refusal is answered before credentials are checked.
        public var dialect: @Sendable (HTTPRequestHead) -> Result<any Dialect, Refusal>
        /// Reads the client's credentials.
        public var credentials: @Sendable (HTTPRequestHead) -> Credentials = { Credentials($0) }
        /// Whether clients authenticate when they open a session, so that the connection itself needs no credentials.
        public var authenticatesSessions = false
        /// The response to a client whose connection is refused.
        public var refused: @Sendable (Refusal, Int) -> HTTPResponse = { .refusal($0, status: $1, keepAlive: false) }
    }

    private var entries: [String: [Entry]] = [:]
    /// Entries whose path has parts that clients choose, in the order in which they are tried.
    private var patterned: [(pattern: PathPattern, entry: Entry)] = []

    init(_ entries: [Entry], patterned: [(PathPattern, Entry)] = []) {
        for entry in entries {
            for path in entry.paths { self.entries[path, default: []].append(entry) }
        }
        self.patterned = patterned.map { (pattern: $0.0, entry: $0.1) }.sorted { left, right in
            // The description orders patterns without a common path, so that the order is unique.
            if left.pattern.goesBefore(right.pattern) { return true }
            if right.pattern.goesBefore(left.pattern) { return false }
            return left.pattern.description < right.pattern.description
        }
    }

    /// The entry of a path without variable parts, on a kind of transport.
    public func entry(_ path: [UInt8], _ framing: Framing) -> Entry? {
        entries[DialectRegistry.name(path)]?.first { $0.framing == framing }
    }

    /// The entry of a request on a kind of transport.
    public func entry(_ head: HTTPRequestHead, _ framing: Framing) -> Entry? {
        if let entry = entry(head.path, framing) { return entry }
        guard !patterned.isEmpty, let segments = head.pathSegments else { return nil }
        return patterned.first { $0.entry.framing == framing && $0.pattern.values(in: segments) != nil }?.entry
    }

    /// Whether WebSockets are opened at a request's path.
    public func opensWebSocket(_ head: HTTPRequestHead) -> Bool { entry(head, .webSocket) != nil }

    private static func name(_ path: [UInt8]) -> String {
        let hasSlash = path.count > 1 && path.last == UInt8(ascii: "/")
        return String(decoding: hasSlash ? path.dropLast() : path[...], as: UTF8.self)
    }
}
