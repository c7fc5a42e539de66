import Core
import Reactors
import Rights
import Transport
import WebSocketCodec

/// One WebSocket client of a run: connects over TLS, subscribes, counts what it gets.
///
/// Thread: the run's reactor's.
final class BenchClient: ConnectionHandler {
    /// How far the client is.
    enum Stage {
        case connecting
        case upgrading
        case subscribing
        case live
        case ended
    }

    private(set) var stage = Stage.connecting
    private(set) var events = 0
    /// The client's number in its run, from 0.
    let number: Int
    private let run: BenchRun
    private var connection: Connection?
    private var head: [UInt8] = []
    private var decoder = WebSocketDecoder(
        role: .client, limits: WebSocketLimits(messageBytesMax: 1 << 20, fragmentsMax: 64))

    private static let key = Base64.encode(Array("switchboard-bench".utf8.prefix(16)), .standard)
    private static let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: key)), .standard)

    init(_ run: BenchRun, number: Int) throws(Errno) {
        self.run = run
        self.number = number
        connection = try Connection.connect(
            run.context, to: .tcp(run.address, port: run.port), tls: run.tls, name: "", outboundBytesMax: 1 << 20,
            handler: self)
    }

    /// Ends in good order.
    func close() {
        guard stage != .ended else { return }
        let body = WebSocketEncoder.closeBody(code: 1_000, reason: "")
        connection?.close(.normal, last: WebSocketEncoder.maskedFrame(.close, payload: body, mask: 0x5a5a_5a5a))
    }

    /// Sends a text message.
    func send(_ text: String) {
        _ = connection?.send(WebSocketEncoder.maskedFrame(.text, payload: Array(text.utf8), mask: 0x5a5a_5a5a))
    }

    func opened(_ connection: Connection) {
        stage = .upgrading
        let request = try? WebSocketClientHandshake.request(
            host: "127.0.0.1:\(run.port)", path: "/ws", key: BenchClient.key, subprotocols: [],
            headers: run.token(number).map { [(name: "Authorization", value: "Bearer " + $0)] } ?? [])
        if let request { _ = connection.send(request) }
    }

    func received(_ bytes: Span<UInt8>) {
        var position = 0
        if stage == .upgrading {
            for index in 0..<bytes.count { head.append(bytes[index]) }
            let answer = WebSocketClientHandshake.check(
                head, headBytesMax: 16_384, accept: BenchClient.accept, subprotocols: [])
            switch answer {
            case .incomplete: return
            case .open(let count, _):
                position = bytes.count - (head.count - count)
                head = []
                stage = .subscribing
                send(run.firstMessage)
            case .refused, .failed:
                connection?.abort(.protocolError)
                return
            }
        }
        while let event = decoder.next(bytes, at: &position) {
            switch event {
            case .message where stage == .subscribing:
                stage = .live
                run.clientIsLive()
            case .message(_, let payload):
                events += 1
                run.onMessage(self, payload)
            case .ping(let payload):
                _ = connection?.send(WebSocketEncoder.maskedFrame(.pong, payload: payload, mask: 0x5a5a_5a5a))
            case .close, .failed, .pong:
                break
            }
        }
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        stage = .ended
        connection = nil
        run.clientEnded()
    }
}
