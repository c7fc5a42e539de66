/// How the body of a request is delimited (RFC 9112 section 6.3).
public enum HTTPBodyFraming: Sendable, Equatable {
    /// There is no body; `Content-Length: 0` included.
    case none
    /// So many bytes follow, 1 or more.
    case length(Int)
    /// Chunks follow.
    case chunked
}

/// The head of one request; its framing is checked and can be relied on.
public struct HTTPRequestHead: Sendable, Equatable {
    private let parts: HTTPHeadParts
    /// How the body is delimited.
    public let body: HTTPBodyFraming

    init(_ parts: HTTPHeadParts, body: HTTPBodyFraming) {
        self.parts = parts
        self.body = body
    }

    /// The method.
    public var method: HTTPMethod { parts.method }
    /// The path as received, escapes untouched, without the query; begins with `/`, or is `*` for OPTIONS.
    public var path: [UInt8] { parts.path }
    /// The part after the first `?` of the target, as received; empty when there is none.
    public var query: [UInt8] { parts.query }
    /// The header fields, without `Content-Length`: ``body`` has its number.
    public var headers: HTTPHeaders { parts.headers }
    /// The host and port as the client wrote them; empty only in HTTP/1.0 without `Host`.
    public var host: [UInt8] { parts.host }
    /// Whether the connection may serve another request.
    ///
    /// False in HTTP/1.0, after `Connection: close`, and for a WebSocket request. If the upgrade is refused the
    /// connection ends with the answer, so no bytes after it are taken for a request.
    public var keepAlive: Bool { parts.keepAlive }
    /// Whether the client waits for ``HTTPResponse/continue100`` before it sends the body (RFC 9110 section 10.1.1).
    public var expectsContinue: Bool { parts.expectsContinue }
    /// The WebSocket handshake, when the request is one; no body event follows then.
    public var upgrade: HTTPUpgrade? { parts.upgrade }

    /// Whether this is the head of an earlier request of the connection, sent again: only the body's length may differ.
    public func repeats(_ earlier: HTTPRequestHead) -> Bool { parts === earlier.parts }

    /// The same head before a body of another length.
    func before(_ body: HTTPBodyFraming) -> HTTPRequestHead { HTTPRequestHead(parts, body: body) }

    /// The segments of the path with their escapes decoded; `nil` for a path that no route may have.
    ///
    /// Segments are the parts between slashes, so `/` has one empty segment and a slash at the end adds one. `nil` for
    /// wrong escapes, and for segments that decode to `.`, `..`, or to bytes with a slash, a backslash or a control
    /// byte. Other programs would read each of these differently.
    public var pathSegments: [[UInt8]]? {
        guard path.first == UInt8(ascii: "/") else { return nil }
        var segments: [[UInt8]] = []
        for piece in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = HTTPGrammar.percentDecoded(piece, plusIsSpace: false) else { return nil }
            let isDot = segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
            let isForeign = segment.contains {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7f
            }
            if isDot || isForeign { return nil }
            segments.append(segment)
        }
        return segments
    }

    /// The value of the query item of a name: escapes decoded, `+` a space (WHATWG URL section 5.1).
    public func queryItem(_ name: String) -> HTTPValue {
        var found: HTTPValue = .absent
        for (rawName, rawValue) in queryPieces {
            guard let itemName = HTTPGrammar.percentDecoded(rawName, plusIsSpace: true),
                itemName.elementsEqual(name.utf8)
            else { continue }
            guard found == .absent else { return .repeated }
            found = HTTPGrammar.percentDecoded(rawValue, plusIsSpace: true).map(HTTPValue.one) ?? .malformed
        }
        return found
    }

    /// Every query item in order, decoded as ``queryItem(_:)`` does; `nil` when any escape is wrong.
    public var queryItems: [(name: [UInt8], value: [UInt8])]? {
        var items: [(name: [UInt8], value: [UInt8])] = []
        for (rawName, rawValue) in queryPieces {
            guard let name = HTTPGrammar.percentDecoded(rawName, plusIsSpace: true),
                let value = HTTPGrammar.percentDecoded(rawValue, plusIsSpace: true)
            else { return nil }
            items.append((name, value))
        }
        return items
    }

    private var queryPieces: [(ArraySlice<UInt8>, ArraySlice<UInt8>)] {
        query.split(separator: UInt8(ascii: "&")).map { piece in
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            return (name, piece[name.endIndex...].dropFirst())
        }
    }
}
