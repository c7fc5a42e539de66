import Configuration
import Connections
import Core
import Gateway
import Rights
import Service
import WebSocketCodec

/// `switchboard tail`: subscribes like any client and prints each message as one line of JSON.
final class TailCommand {
    private let settings: TailSettings
    private let url: GatewayURL
    private let token: [UInt8]?
    private var exchange: ClientExchange?
    private var connection: Connection?
    private var decoder: WebSocketDecoder
    private var head: [UInt8]? = []
    private var left: Int?
    private let key = Base64.encode(SecureRandom.bytes(16), .standard)
    private var isRefused = false
    /// The last event printed of the one topic; `nil` before its `subscribed`, and with several topics.
    private var position: Position?

    private init(_ settings: TailSettings) throws(StartProblem) {
        self.settings = settings
        url = try GatewayURL(settings.gateway)
        left = settings.count
        decoder = WebSocketDecoder(
            role: .client, limits: WebSocketLimits(messageBytesMax: 16 << 20, fragmentsMax: 1_024))
        token = try settings.tokenFile.map { (path) throws(StartProblem) in
            try StartFile.read(path, bytesMax: 65_536).filter { $0 > 0x20 }
        }
    }

    /// Runs until `--count` events were printed or Ctrl-C; throws when the connection ends before.
    static func run(_ settings: TailSettings) throws(StartProblem) -> Int32 {
        let command = try TailCommand(settings)
        let exchange = try ClientExchange(
            command.url, limits: Limits(), onOpen: { command.opened($0) }, onBytes: { command.received($0) })
        command.exchange = exchange
        exchange.run(connectMs: 5_000)
        if let failure = exchange.failure { throw StartProblem(failure + command.wayOn) }
        if exchange.isCut { throw StartProblem("the connection to \(command.url.authority) broke" + command.wayOn) }
        return command.isRefused || (command.left ?? 0) > 0 ? 1 : 0
    }

    /// How the user goes on behind the last event; empty when no single position is known.
    private var wayOn: String {
        position.map { "; to go on behind the last event: --since " + String(decoding: $0.text, as: UTF8.self) } ?? ""
    }

    private func opened(_ connection: Connection) {
        self.connection = connection
        var headers: [(name: String, value: String)] = []
        if let token { headers.append(("Authorization", "Bearer " + String(decoding: token, as: UTF8.self))) }
        do {
            let request = try WebSocketClientHandshake.request(
                host: url.authority, path: "/ws", key: key, subprotocols: [], headers: headers)
            _ = connection.send(request)
        } catch {
            exchange?.fail("the request cannot be made: \(error)")
        }
    }

    private func received(_ bytes: [UInt8]) {
        var bytes = bytes
        if var head {
            head += bytes
            let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: key)), .standard)
            switch WebSocketClientHandshake.check(head, headBytesMax: 16_384, accept: accept, subprotocols: []) {
            case .incomplete:
                self.head = head
                return
            case .open(let count, _):
                self.head = nil
                bytes = Array(head[count...])
                subscribe()
            case .refused(let status):
                let text = String(decoding: head, as: UTF8.self).split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
                exchange?.fail("the gateway refused the WebSocket, status \(status): \(text)")
                return
            case .failed(let failure):
                exchange?.fail("not a WebSocket server: \(failure.rawValue)")
                return
            }
        }
        var position = 0
        while let event = decoder.next(bytes.span, at: &position) { handle(event) }
    }

    private func subscribe() {
        for topic in settings.topics {
            var message: [UInt8] = []
            message.append(text: "{\"event\":\"subscribe\",\"data\":{\"topic\":\"\(topic)\"")
            if let since = settings.since {
                message.append(text: ",\"since\":{\"epoch\":")
                message.append(jsonString: since.epoch)
                message.append(text: ",\"offset\":\(since.offset)}")
            }
            message.append(text: "},\"ref\":\"\(topic)\"}")
            send(.text, message)
        }
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        var random = SecureRandom()
        let mask = UInt32(truncatingIfNeeded: random.next())
        _ = connection?.send(WebSocketEncoder.maskedFrame(opcode, payload: payload, mask: mask))
    }

    private func handle(_ event: WebSocketEvent) {
        switch event {
        case .message(_, let payload): show(payload)
        case .ping(let payload): send(.pong, payload)
        // Never agreed on: the request offers no extension.
        case .pong, .deflated: break
        case .close(let code, let reason):
            let text = String(decoding: reason, as: UTF8.self)
            exchange?.fail("the gateway closed: \(code.map { String($0) } ?? "-") \(text)")
        case .failed(let failure):
            exchange?.fail("the gateway broke the protocol: \(failure.rawValue)")
        }
    }

    /// Prints events; other messages of the gateway go to standard error.
    private func show(_ payload: [UInt8]) {
        let text = String(decoding: payload, as: UTF8.self)
        let json = try? JSON(parsing: payload, limits: JSON.Limits(depthMax: 64, elementsMax: 100_000))
        if settings.topics.count == 1, let json { follow(json.root) }
        switch json?.root["event"]?.string {
        case "subscribed", "gap", "draining":
            Terminal.error(text)
        case "error":
            Terminal.error(text)
            isRefused = true
            exchange?.finish()
        default:
            Terminal.print(text)
            guard let count = left else { return }
            left = count - 1
            if count <= 1 { exchange?.finish() }
        }
    }

    /// Moves the position as a client does (docs/protocol.md, Losing nothing).
    private func follow(_ message: JSON.Value) {
        let data = message["data"]
        switch message["event"]?.string {
        case "subscribed" where data?["recovered"]?.bool == true: position = settings.since
        case "subscribed", "gap":
            guard let epoch = data?["epoch"]?.stringBytes, let offset = data?["offset"]?.int else { return }
            position = Position(epoch: epoch, offset: offset)
        default:
            guard let epoch = position?.epoch, let offset = message["offset"]?.int else { return }
            position = Position(epoch: epoch, offset: offset)
        }
    }
}
