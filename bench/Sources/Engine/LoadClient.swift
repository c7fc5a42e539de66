import Compression
import Connections
import Core
import Reactors
import Rights
import WebSocketCodec

/// One client, of a WebSocket or an event stream: connects, becomes live, passes messages to its behaviour.
///
/// Messages are not copied. Thread: main.
final class LoadClient: ConnectionHandler {
    private(set) var stage = ClientStage.away
    /// The client's number among all clients of the run, from 0.
    let number: Int
    /// Its dialect to the gateway; unused for a peer.
    let dialect: ClientDialect
    /// The messages received of the client's topic.
    var ledger = SequenceLedger()
    /// Offset in the list of URLs from the client's own; set by a behaviour.
    var urlTurns = 0
    /// The TLS session to resume; set by a behaviour.
    var session: TLSClientSession?
    /// The code the server closed the connection with; 0 without one.
    private(set) var closeCode = 0
    /// Whether the client was asked to disconnect.
    private(set) var isLeaving = false
    /// When the last connect began, microseconds of CLOCK_MONOTONIC.
    private(set) var beganUs = 0
    private(set) var connection: Connection?
    private let crew: ClientCrew
    private let behaviour: any ClientBehaviour
    private var head: [UInt8] = []
    private var walker = FrameWalker()
    private var records = RecordWalker()
    private var refusal = ""

    private static let key = Base64.encode(Array("switchboard-bench".utf8.prefix(16)), .standard)
    private static let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: key)), .standard)
    /// Maximum milliseconds from connect to live.
    private static let answerMs = 60_000
    private static let mask: UInt32 = 0x5a5a_5a5a

    init(_ crew: ClientCrew, _ behaviour: any ClientBehaviour, number: Int) {
        self.crew = crew
        self.behaviour = behaviour
        self.number = number
        dialect = crew.options.dialect(number)
    }

    /// Connects; no effect when it is connected.
    func connect() {
        guard stage == .away, let url = crew.url(number + urlTurns) else { return }
        stage = .connecting
        (isLeaving, head, refusal, closeCode) = (false, [], "", 0)
        (walker, records) = (FrameWalker(), RecordWalker())
        walker.deflates = crew.options.deflate == .on
        beganUs = Clock.monotonicUs()
        crew.clientBegins()
        do {
            let made = try make(url)
            made.setDeadline(at: crew.context.reactor.nowMs + LoadClient.answerMs)
            connection = made
        } catch {
            over(error.description)
        }
    }

    private func make(_ url: CrowdOptions.URL) throws(Errno) -> Connection {
        let (endpoint, source) = (Endpoint.tcp(url.address, port: url.port), crew.source(number))
        if url.usesTLS, let session {
            return try Connection.connect(
                crew.context, to: endpoint, from: source, resuming: session, outboundBytesMax: 1 << 20, handler: self)
        }
        return try Connection.connect(
            crew.context, to: endpoint, from: source, tls: url.usesTLS ? crew.tls : nil, name: "",
            outboundBytesMax: 1 << 20, handler: self)
    }

    /// Disconnects with a close handshake.
    func leave() {
        guard stage != .away, !isLeaving else { return }
        isLeaving = true
        guard dialect != .stream else { return connection?.close(.normal) ?? () }
        let body = WebSocketEncoder.closeBody(code: 1_000, reason: "")
        connection?.close(
            .normal, last: WebSocketEncoder.maskedFrame(.close, payload: body, mask: LoadClient.mask))
    }

    /// Disconnects by a TCP reset.
    func reset() {
        guard stage != .away, !isLeaving else { return }
        isLeaving = true
        connection?.reset(.normal)
    }

    /// Sends a text message; false when that failed.
    @discardableResult func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    @discardableResult func send(_ text: [UInt8]) -> Bool {
        connection?.send(WebSocketEncoder.maskedFrame(.text, payload: text, mask: LoadClient.mask)) ?? false
    }

    // MARK: ConnectionHandler

    func opened(_ connection: Connection) {
        stage = .upgrading
        guard let url = crew.url(number + urlTurns) else { return }
        var headers = behaviour.token(number).map { [(name: "Authorization", value: "Bearer " + $0)] } ?? []
        if crew.options.target == .switchboard, dialect.needsKey {
            headers.append((name: "x-api-key", value: crew.options.apiKey))
        }
        let path = crew.options.target.path(topic: behaviour.topic(number), dialect)
        guard dialect != .stream else { return request(stream: path, host: url.authority) }
        let request = try? WebSocketClientHandshake.request(
            host: url.authority, path: path, key: LoadClient.key, subprotocols: [], headers: headers,
            deflates: walker.deflates)
        guard let request else { return fail("the upgrade request cannot be written") }
        _ = connection.send(request)
    }

    private func request(stream path: String, host: String) {
        let head = "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAccept: text/event-stream\r\n\r\n"
        _ = connection?.send(Array(head.utf8))
    }

    func received(_ bytes: Span<UInt8>) {
        var position = 0
        if stage == .upgrading {
            guard let start = dialect == .stream ? answer(bytes) : upgrade(bytes) else { return }
            position = start
        }
        let nowUs = Clock.monotonicUs()
        crew.cameBytes(bytes.count, nowUs: nowUs)
        if dialect == .stream { return walkRecords(bytes, from: position, nowUs) }
        while true {
            switch walker.next(bytes, at: &position) {
            case .frame(let opcode, let payload, false):
                take(opcode, bytes.extracting(payload), nowUs)
            case .frame(let opcode, let payload, true):
                let whole = walker.carried
                take(opcode, whole.span.extracting(payload), nowUs)
            case .more: return
            case .failed: return fail("not a WebSocket frame of a server")
            }
        }
    }

    /// Processes the records of a stream.
    private func walkRecords(_ bytes: Span<UInt8>, from start: Int, _ nowUs: Int) {
        var position = start
        while true {
            switch records.next(bytes, at: &position) {
            case .record(let range, false): takeRecord(bytes.extracting(range), nowUs)
            case .record(let range, true):
                let whole = records.carried
                takeRecord(whole.span.extracting(range), nowUs)
            case .more: return
            case .failed: return fail("not an event stream")
            }
        }
    }

    private func takeRecord(_ record: Span<UInt8>, _ nowUs: Int) {
        // A comment or `retry` alone is no message.
        guard !Target.begins(record, ":"), !Target.begins(record, "retry:") else { return }
        if stage == .live {
            behaviour.received(self, record, nowUs: nowUs)
        } else {
            act(behaviour.answered(self, record), record, nowUs)
        }
    }

    func deadlineReached() {
        if stage != .live { fail("not live within \(LoadClient.answerMs / 1_000) s") }
    }

    func ended(_ reason: CloseReason) {
        let detail = connection?.failureText ?? ""
        over(!refusal.isEmpty ? refusal : detail.isEmpty ? reason.rawValue : detail)
    }

    // MARK: Messages

    private func take(_ opcode: UInt8, _ payload: Span<UInt8>, _ nowUs: Int) {
        switch opcode {
        case FrameWalker.text, FrameWalker.binary:
            if stage == .live {
                if crew.options.target.isPing(payload, dialect) {
                    send("3")
                } else {
                    behaviour.received(self, payload, nowUs: nowUs)
                }
            } else {
                act(behaviour.answered(self, payload), payload, nowUs)
            }
        case FrameWalker.text | FrameWalker.deflated, FrameWalker.binary | FrameWalker.deflated:
            inflate(opcode & ~FrameWalker.deflated, payload, nowUs)
        case FrameWalker.ping:
            _ = connection?.send(
                WebSocketEncoder.maskedFrame(.pong, payload: LoadClient.copy(payload, 125), mask: LoadClient.mask))
        case FrameWalker.close where payload.count >= 2:
            closeCode = Int(payload[0]) << 8 | Int(payload[1])
            refusal = "closed with \(closeCode)"
        default: break
        }
    }

    private func inflate(_ opcode: UInt8, _ payload: Span<UInt8>, _ nowUs: Int) {
        let kind: WebSocketEvent.Kind = opcode == FrameWalker.text ? .text : .binary
        let deflated = LoadClient.copy(payload, payload.count)
        switch crew.inflater.inflate(kind, deflated, bytesMax: FrameWalker.payloadBytesMax) {
        case .message(_, let message): take(opcode, message.span, nowUs)
        default: fail("a message that cannot be inflated")
        }
    }

    /// Parses the head of a stream; returns the index of its records in the chunk, when the head is complete.
    private func answer(_ bytes: Span<UInt8>) -> Int? {
        for index in 0..<bytes.count {
            head.append(bytes[index])
            guard head.count <= 16_384 else { break }
            guard bytes[index] == UInt8(ascii: "\n"), head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            let status = String(decoding: head.prefix(12), as: UTF8.self)
            guard status == "HTTP/1.1 200" else { break }
            head = []
            stage = .subscribing
            return index + 1
        }
        guard head.count > 16_384 || head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
        fail("the stream was answered \(String(decoding: head.prefix(40), as: UTF8.self))")
        return nil
    }

    /// Parses the response to the upgrade; returns the index of the frames in the chunk, when it is complete.
    private func upgrade(_ bytes: Span<UInt8>) -> Int? {
        for index in 0..<bytes.count { head.append(bytes[index]) }
        let answer = WebSocketClientHandshake.check(
            head, headBytesMax: 16_384, accept: LoadClient.accept, subprotocols: [], deflates: walker.deflates)
        switch answer {
        case .incomplete: return nil
        case .open(let count, _):
            let frames = bytes.count - (head.count - count)
            head = []
            stage = .subscribing
            let none: [UInt8] = []
            act(behaviour.upgraded(self), none.span, Clock.monotonicUs())
            return frames
        case .refused(let status):
            fail("the upgrade was answered \(status)")
        case .failed(let failure):
            fail("the upgrade was answered wrongly: \(failure.rawValue)")
        }
        return nil
    }

    private func act(_ step: Target.Step, _ text: Span<UInt8>, _ nowUs: Int) {
        switch step {
        case .wait: break
        case .say(let words): send(words)
        case .live:
            stage = .live
            connection?.setDeadline(at: Int.max)
            crew.clientIsLive(afterUs: nowUs - beganUs, nowUs: nowUs)
            behaviour.isLive(self)
        case .refused:
            fail("refused: " + LoadClient.text(text, 200))
        }
    }

    /// The first bytes, as text.
    static func text(_ bytes: Span<UInt8>, _ countMax: Int) -> String {
        String(decoding: copy(bytes, countMax), as: UTF8.self)
    }

    /// The first bytes of a message.
    static func copy(_ bytes: Span<UInt8>, _ countMax: Int) -> [UInt8] {
        (0..<min(bytes.count, countMax)).map { bytes[$0] }
    }

    private func fail(_ reason: String) {
        if refusal.isEmpty { refusal = reason }
        connection?.abort(.protocolError)
    }

    private func over(_ reason: String) {
        let wasLive = stage == .live
        stage = .away
        connection = nil
        crew.clientEnded(self, wasLive: wasLive, reason)
    }
}
