import Core

/// The opening handshake of RFC 6455 section 4.1, on the client's side: a request, and the check of its answer.
///
/// Used by the command line (`switchboard tail`), by the load tool and by tests.
public enum WebSocketClientHandshake {
    /// The reason why a request cannot be written: the caller's own values are invalid.
    public enum RequestFailure: Error, Equatable, Sendable {
        /// The host is empty or contains bytes other than visible ASCII.
        case host
        /// The path does not begin with `/`, or contains bytes other than visible ASCII, or a fragment.
        case path
        /// The key is not the base64 of 16 bytes.
        case key
        /// The extra field of this name is no token, is one that the handshake sets, or has a value beyond ASCII text.
        case header(String)
    }

    /// The state of an answer.
    public enum Answer: Equatable, Sendable {
        /// The head is not complete; read more and check again with all bytes.
        case incomplete
        /// The WebSocket is open; frames begin at byte `headBytes`.
        case open(headBytes: Int, subprotocol: String?)
        /// The server answered with another status than 101.
        case refused(status: Int)
        /// The answer is not a valid handshake; the connection must be closed.
        case failed(AnswerFailure)
    }

    /// The rule that a server's answer broke (section 4.1, the client's last list).
    public enum AnswerFailure: String, Error, CaseIterable, Sendable {
        /// It is not HTTP/1.1.
        case notHTTP = "not_http"
        /// The head is longer than allowed.
        case headTooLong = "head_too_long"
        /// A line is not a header field.
        case malformedField = "malformed_field"
        /// `Upgrade` is not `websocket`.
        case upgrade
        /// `Connection` does not list `Upgrade`.
        case connection
        /// `Sec-WebSocket-Accept` is missing, repeated or wrong.
        case accept
        /// An extension, though none was offered.
        case unofferedExtension = "unoffered_extension"
        /// `permessage-deflate` was offered and not agreed on, or not in the requested form.
        case extensionDeclined = "extension_declined"
        /// A subprotocol that was not offered, or several.
        case unofferedSubprotocol = "unoffered_subprotocol"
    }

    /// Writes the request.
    ///
    /// - Parameters:
    ///   - host: The `Host` value, with the port unless it is the scheme's own.
    ///   - path: The request target: path and query.
    ///   - key: The base64 of 16 fresh random bytes.
    ///   - subprotocols: Offered names in order of preference; none leaves the field out.
    ///   - headers: Further fields, e.g. `Authorization`.
    ///   - deflates: Offers `permessage-deflate` without takeover of context (RFC 7692).
    public static func request(
        host: String, path: String, key: [UInt8], subprotocols: [String], headers: [(name: String, value: String)],
        deflates: Bool = false
    ) throws(RequestFailure) -> [UInt8] {
        guard !host.isEmpty, host.utf8.allSatisfy(FieldText.isVisible) else { throw .host }
        guard path.utf8.first == UInt8(ascii: "/"),
            path.utf8.allSatisfy({ FieldText.isVisible($0) && $0 != UInt8(ascii: "#") })
        else { throw .path }
        guard WebSocketHandshake.isKey(key) else { throw .key }
        guard subprotocols.allSatisfy({ FieldText.isToken($0.utf8) }) else { throw .header("Sec-WebSocket-Protocol") }
        var request: [UInt8] = []
        request.append(text: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n")
        request.append(text: "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n")
        request.append(text: "Sec-WebSocket-Key: ")
        request.append(contentsOf: key)
        request.append(text: "\r\n")
        if !subprotocols.isEmpty {
            request.append(text: "Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))\r\n")
        }
        if deflates { request.append(text: "Sec-WebSocket-Extensions: \(offer)\r\n") }
        for (name, value) in headers {
            guard isFree(name), FieldText.isFieldValue(value.utf8) else { throw .header(name) }
            request.append(text: "\(name): \(value)\r\n")
        }
        request.append(text: "\r\n")
        return request
    }

    /// Checks an answer.
    ///
    /// - Parameters:
    ///   - received: All bytes received so far.
    ///   - headBytesMax: The most bytes of the head; beyond, the answer has failed.
    ///   - accept: The expected `Sec-WebSocket-Accept`: base64 of the SHA-1 of
    ///     ``WebSocketHandshake/acceptInput(key:)``.
    ///   - subprotocols: The names that the request offered.
    ///   - deflates: Whether it offered `permessage-deflate`; an answer that does not agree has failed.
    public static func check(
        _ received: [UInt8], headBytesMax: Int, accept: [UInt8], subprotocols: [String], deflates: Bool = false
    ) -> Answer {
        let version = FieldText.bytes("HTTP/1.1 ")
        guard received.prefix(version.count).elementsEqual(version.prefix(received.count)) else {
            return .failed(.notHTTP)
        }
        let head: WebSocketAnswerHead
        do {
            guard let parsed = try WebSocketAnswerHead(received, bytesMax: headBytesMax) else { return .incomplete }
            head = parsed
        } catch {
            return .failed(error)
        }
        guard head.status == 101 else { return .refused(status: head.status) }
        guard FieldText.list(head.values("upgrade"), holds: "websocket") else { return .failed(.upgrade) }
        guard FieldText.list(head.values("connection"), holds: "upgrade") else { return .failed(.connection) }
        guard head.values("sec-websocket-accept") == [accept] else { return .failed(.accept) }
        let extensions = head.values("sec-websocket-extensions")
        if deflates {
            guard DeflateAgreement(offered: extensions)?.answer == offer else { return .failed(.extensionDeclined) }
        } else {
            guard extensions.isEmpty else { return .failed(.unofferedExtension) }
        }
        let chosen = head.values("sec-websocket-protocol")
        guard let value = chosen.first else { return .open(headBytes: head.count, subprotocol: nil) }
        guard chosen.count == 1, let name = subprotocols.first(where: { $0.utf8.elementsEqual(value) }) else {
            return .failed(.unofferedSubprotocol)
        }
        return .open(headBytes: head.count, subprotocol: name)
    }

    /// The offer, which the answer must accept; an answer is parsed like an offer, since it has the same grammar.
    private static let offer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    /// Whether an extra field has a valid name that the handshake does not set itself.
    private static func isFree(_ name: String) -> Bool {
        let reserved = ["host", "upgrade", "connection", "content-length", "transfer-encoding"]
        let bytes = name.utf8.map(ASCII.lowercased)
        return FieldText.isToken(bytes) && !bytes.starts(with: FieldText.bytes("sec-websocket-"))
            && !reserved.contains { $0.utf8.elementsEqual(bytes) }
    }
}
