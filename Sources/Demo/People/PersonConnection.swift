import Connections
import Core
import Reactors
import Rights
import WebSocketCodec

/// A person's WebSocket to the gateway, in the native dialect, as an app has it.
///
/// It is used once: after its end the owner opens another one. Thread: the people's.
final class PersonConnection: ConnectionHandler {
    /// News for the owner.
    enum News {
        case opened
        /// A message; `ref` is that of the request that it answers.
        case message(event: String, ref: Int?, data: JSON.Value)
        case ended(String)
    }

    private let authority: String
    private let token: [UInt8]
    private let onNews: (News) -> Void
    private let key = Base64.encode(SecureRandom.bytes(16), .standard)
    private var connection: Connection?
    private var decoder = WebSocketDecoder(
        role: .client, limits: WebSocketLimits(messageBytesMax: 1 << 20, fragmentsMax: 64))
    /// The received part of the answer to the handshake; `nil` once it is read.
    private var head: [UInt8]? = []
    private var refs = 0
    private var failure = ""

    private static let jsonLimits = JSON.Limits(depthMax: 16, elementsMax: 20_000)
    private static let headBytesMax = 16_384
    private static let outboundBytesMax = 1 << 20

    /// Begins to connect.
    init(
        _ context: ConnectionContext, to endpoint: Endpoint, tls: TLSContext, host: String, authority: String,
        token: [UInt8], onNews: @escaping (News) -> Void
    ) throws(Errno) {
        (self.authority, self.token, self.onNews) = (authority, token, onNews)
        connection = try Connection.connect(
            context, to: endpoint, tls: tls, name: host, outboundBytesMax: PersonConnection.outboundBytesMax,
            handler: self)
    }

    /// Sends a request, and returns its `ref`.
    func send(_ event: String, _ arguments: [UInt8]) -> Int {
        refs += 1
        var message: [UInt8] = []
        message.append(text: "{\"event\":\"\(event)\",\"data\":")
        message += arguments
        message.append(text: ",\"ref\":\(refs)}")
        write(.text, message)
        return refs
    }

    /// Closes properly.
    func close() { connection?.close(.normal) }

    private func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        var random = SecureRandom()
        let mask = UInt32(truncatingIfNeeded: random.next())
        _ = connection?.send(WebSocketEncoder.maskedFrame(opcode, payload: payload, mask: mask))
    }

    private func fail(_ reason: String) {
        failure = reason
        connection?.abort(.protocolError)
    }

    // MARK: The connection

    func opened(_ connection: Connection) {
        let headers = [(name: "Authorization", value: "Bearer " + String(decoding: token, as: UTF8.self))]
        guard
            let request = try? WebSocketClientHandshake.request(
                host: authority, path: "/ws", key: key, subprotocols: [], headers: headers)
        else { return fail("the request cannot be made") }
        _ = connection.send(request)
    }

    func received(_ bytes: Span<UInt8>) {
        var input: [UInt8] = []
        input.reserveCapacity(bytes.count)
        for index in 0..<bytes.count { input.append(bytes[index]) }
        if var head {
            head += input
            let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: key)), .standard)
            switch WebSocketClientHandshake.check(
                head, headBytesMax: PersonConnection.headBytesMax, accept: accept, subprotocols: [])
            {
            case .incomplete:
                self.head = head
                return
            case .open(let count, _):
                self.head = nil
                input = Array(head[count...])
                onNews(.opened)
            case .refused(let status): return fail("status \(status)")
            case .failed(let problem): return fail(problem.rawValue)
            }
        }
        var position = 0
        while failure.isEmpty, let event = decoder.next(input.span, at: &position) { handle(event) }
    }

    private func handle(_ event: WebSocketEvent) {
        switch event {
        case .message(_, let payload):
            guard let json = try? JSON(parsing: payload, limits: PersonConnection.jsonLimits),
                let name = json.root["event"]?.string
            else { return }
            onNews(.message(event: name, ref: json.root["ref"]?.int, data: json.root["data"] ?? json.root))
        case .ping(let payload): write(.pong, payload)
        // Never agreed on: the request offers no extension.
        case .pong, .deflated: break
        case .close(let code, _): fail("closed with \(code.map { String($0) } ?? "no code")")
        case .failed(let problem): fail(problem.rawValue)
        }
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        let detail = connection?.failureText ?? ""
        connection = nil
        onNews(.ended(failure.isEmpty ? (detail.isEmpty ? reason.rawValue : detail) : failure))
    }
}

/// One `POST /demo/order`, as the page's button sends it.
///
/// It holds itself until its end. Thread: the people's.
final class OrderRequest: ConnectionHandler {
    private let request: [UInt8]
    private var connection: Connection?
    private var held: OrderRequest?

    /// Sends the request; an order that is refused is left out, since another one is on its way.
    init(
        _ context: ConnectionContext, to endpoint: Endpoint, tls: TLSContext, host: String, authority: String,
        fails: Bool
    ) throws(Errno) {
        let body = "{\"outcome\":\"\(fails ? "failed" : "ready")\",\"yields\":true}"
        request = Array(
            """
            POST /demo/order HTTP/1.1\r
            Host: \(authority)\r
            Content-Type: application/json\r
            Connection: close\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """.utf8)
        connection = try Connection.connect(
            context, to: endpoint, tls: tls, name: host, outboundBytesMax: 1 << 16, handler: self)
        held = self
    }

    func opened(_ connection: Connection) { _ = connection.send(request) }

    func received(_ bytes: Span<UInt8>) { connection?.close(.normal) }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        connection = nil
        held = nil
    }
}
