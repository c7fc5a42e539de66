import Core
public import HTTPCodec

/// The Engine.IO operation that a request asks for, by its method and query.
public enum EngineRequest: Equatable, Sendable {
    /// Open a session.
    case open
    /// Fetch the packets that wait for the session's client.
    case fetch(session: [UInt8])
    /// Take packets from the session's client.
    case send(session: [UInt8])

    /// The fault of a refused request; the raw value is the code that clients of the protocol know.
    public enum Fault: Int, Error, CaseIterable {
        case transport = 0
        case session = 1
        case method = 2
        case request = 3
        case forbidden = 4
        case version = 5

        /// The error message of the code.
        public var message: StaticString {
            switch self {
            case .transport: "Transport unknown"
            case .session: "Session ID unknown"
            case .method: "Bad handshake method"
            case .request: "Bad request"
            case .forbidden: "Forbidden"
            case .version: "Unsupported protocol version"
            }
        }
    }

    /// Classifies a request that is no upgrade; the checks have the order of the protocol's own server.
    public init(polling head: HTTPRequestHead) throws(Fault) {
        // A WebSocket needs an upgrade.
        if EngineRequest.has(head, "transport", "websocket") { throw .request }
        guard EngineRequest.has(head, "transport", "polling") else { throw .transport }
        switch (head.queryItem("sid"), head.method) {
        case (.absent, .get):
            guard EngineRequest.has(head, "EIO", "4") else { throw .version }
            self = .open
        case (.absent, _): throw .method
        case (.one(let session), .get): self = .fetch(session: session)
        case (.one(let session), .post): self = .send(session: session)
        case (.one, _): throw .request
        case (.repeated, _), (.malformed, _): throw .session
        }
    }

    /// Checks an upgrade that opens a session.
    static func webSocket(_ head: HTTPRequestHead) -> Result<Void, Refusal> {
        let fault: Fault
        if !has(head, "transport", "websocket") {
            fault = .transport
        } else if head.queryItem("sid") != .absent {
            fault = .session
        } else if !has(head, "EIO", "4") {
            fault = .version
        } else {
            return .success(())
        }
        return .failure(Refusal(.badRequest, "\(fault.message)"))
    }

    /// The session that an upgrade moves to a WebSocket; `nil` where it names none.
    public static func movingSession(_ head: HTTPRequestHead) -> [UInt8]? {
        guard has(head, "transport", "websocket"), has(head, "EIO", "4"), case .one(let session) = head.queryItem("sid")
        else { return nil }
        return session
    }

    private static func has(_ head: HTTPRequestHead, _ name: String, _ value: String) -> Bool {
        guard case .one(let found) = head.queryItem(name) else { return false }
        return found.elementsEqual(value.utf8)
    }
}
