import Connections
import Core
import Reactors
import Rights
import WebSocketCodec

/// One client of a crowd: connects, subscribes, records all messages, and reconnects after every disconnect.
///
/// It resumes from its position. Thread: main.
final class CrowdClient: ConnectionHandler {
    private(set) var stage = ClientStage.away
    /// The client's number in its crowd, from 0.
    let number: Int
    private let crowd: Crowd
    private var places: [CrowdPlace]
    private var connection: Connection?
    private var session: TLSClientSession?
    private var timer: ReactorTimer?
    private var attempts = 0
    private var pause = JitteredPause()
    private var subscribePause = JitteredPause()
    private var beganUs = 0
    private var readUs = 0
    private var closeCode = 0
    /// The delay in the `draining` event, milliseconds.
    private var drainMs: Int?
    private var isStalled = false
    /// Whether the timer is set to subscribe again.
    private var isRetryDue = false
    /// The reason for which the upgrade was refused.
    private var refusal: String?
    private var head: [UInt8] = []
    private var decoder = CrowdClient.newDecoder()

    private static let key = Base64.encode(Array("switchboard-bench".utf8.prefix(16)), .standard)
    private static let accept = Base64.encode(Digest.sha1(WebSocketHandshake.acceptInput(key: key)), .standard)
    /// Maximum milliseconds from connect to live, and between two subscribes; the gateway answers far sooner, even an
    /// error.
    private static let answerMs = 30_000
    /// Milliseconds without a byte after which the peer is gone: a gateway pings more often.
    private static let silenceMs = 60_000
    /// Milliseconds between two checks whether an attempt may begin.
    private static let turnMs = 20
    /// Maximum topics of one subscribe.
    private static let topicsPerSubscribe = 32
    private static let jsonLimits = JSON.Limits(depthMax: 64, elementsMax: 100_000)

    private static func newDecoder() -> WebSocketDecoder {
        WebSocketDecoder(role: .client, limits: WebSocketLimits(messageBytesMax: 1 << 20, fragmentsMax: 64))
    }

    init(_ crowd: Crowd, number: Int) throws(Errno) {
        self.crowd = crowd
        self.number = number
        let (perClient, count) = (crowd.options.perClient, crowd.options.topics.count)
        places = (0..<perClient).map { CrowdPlace(topic: (number * perClient + $0) % count) }
        timer = try ReactorTimer(crowd.reactor) { [unowned self] in timerFired() }
    }

    // MARK: Commands of the crowd

    /// Connects now.
    func connect() {
        let url = crowd.options.urls[(number + attempts) % crowd.options.urls.count]
        attempts += 1
        crowd.attemptBegan()
        stage = .connecting
        (closeCode, drainMs, refusal) = (0, nil, nil)
        (head, decoder) = ([], CrowdClient.newDecoder())
        beganUs = Clock.monotonicUs()
        do {
            let endpoint = Endpoint.tcp(url.address, port: url.port)
            if url.usesTLS {
                let name = crowd.options.ca == nil ? "" : url.host
                let kept = session.flatMap { $0.name == name ? $0 : nil } ?? TLSClientSession(crowd.tls, name: name)
                session = kept
                connection = try Connection.connect(
                    crowd.context, to: endpoint, resuming: kept, outboundBytesMax: 1 << 20, handler: self)
            } else {
                connection = try Connection.connect(
                    crowd.context, to: endpoint, tls: nil, name: "", outboundBytesMax: 1 << 20, handler: self)
            }
            connection?.setDeadline(at: crowd.reactor.nowMs + CrowdClient.answerMs)
        } catch {
            attemptFailed(error.description)
        }
    }

    /// Disconnects: by a TCP reset, or with a close handshake.
    func leave(byReset: Bool) {
        guard isConnected, let connection else { return }
        if byReset { return connection.reset(.normal) }
        closeCode = 1_000
        connection.close(.normal, last: CrowdClient.closeFrame(1_000))
    }

    /// Stops or resumes reading; a stalled client that reconnects reads until it is live.
    func setStalled(_ stalled: Bool) {
        isStalled = stalled
        guard stage == .live else { return }
        if stalled {
            connection?.pauseReading()
        } else {
            readUs = Clock.monotonicUs()
            connection?.resumeReading()
        }
    }

    /// Whether a WebSocket is open.
    var isConnected: Bool { stage == .subscribing || stage == .live }

    // MARK: Connecting and disconnecting

    private func timerFired() {
        isRetryDue = false
        if stage == .away {
            if crowd.mayAttempt { connect() } else { timer?.set(atMs: Clock.monotonicMs() + CrowdClient.turnMs) }
        } else if stage == .subscribing {
            subscribe()
        }
    }

    private func attemptFailed(_ reason: String) {
        crowd.log.begin("N", client: number, atUs: Clock.monotonicUs())
        crowd.log.add(Array(reason.utf8))
        crowd.log.end()
        crowd.attemptFailed()
        rest(afterMs: pause.next())
    }

    private func rest(afterMs delayMs: Int) {
        stage = .away
        connection = nil
        isRetryDue = false
        timer?.set(atMs: Clock.monotonicMs() + delayMs)
    }

    func ended(_ reason: CloseReason) {
        guard isConnected else {
            let failureText = connection?.failureText ?? ""
            return attemptFailed(refusal ?? (failureText.isEmpty ? reason.rawValue : failureText))
        }
        crowd.log.begin("D", client: number, atUs: Clock.monotonicUs())
        crowd.log.add(closeCode)
        crowd.log.end()
        for index in places.indices { places[index].state = .open }
        crowd.disconnected(wasLive: stage == .live)
        rest(afterMs: drainMs ?? pause.next())
    }

    func opened(_ connection: Connection) {
        stage = .upgrading
        let url = crowd.options.urls[(number + attempts - 1) % crowd.options.urls.count]
        let request = try? WebSocketClientHandshake.request(
            host: url.authority, path: url.path, key: CrowdClient.key, subprotocols: [], headers: [])
        guard let request else { return connection.abort(.protocolError) }
        _ = connection.send(request)
    }

    private func upgraded() {
        stage = .subscribing
        if let session { connection?.saveSession(in: session) }
        let isResumed = connection?.wasTLSResumed ?? false
        crowd.log.begin("C", client: number, atUs: readUs)
        crowd.log.add(isResumed ? 1 : 0)
        crowd.log.end()
        crowd.connected(isResumed: isResumed)
        subscribePause.succeeded()
        subscribe()
    }

    /// Subscribes to every topic without a pending or confirmed subscription, from its position on.
    private func subscribe() {
        connection?.setDeadline(at: crowd.reactor.nowMs + CrowdClient.answerMs)
        let missing = places.indices.filter { places[$0].state == .open }
        for start in stride(from: 0, to: missing.count, by: CrowdClient.topicsPerSubscribe) {
            var message: [UInt8] = []
            message.append(text: "{\"event\":\"subscribe\",\"data\":{\"topics\":[" as StaticString)
            let end = min(start + CrowdClient.topicsPerSubscribe, missing.count)
            for index in missing[start..<end] {
                places[index].ask()
                if index != missing[start] { message.append(UInt8(ascii: ",")) }
                message.append(text: "{\"topic\":\"" as StaticString)
                message += crowd.options.topics.name(places[index].topic)
                if let (epoch, offset) = places[index].asked {
                    message.append(text: "\",\"since\":{\"epoch\":\"" as StaticString)
                    message += epoch
                    message.append(text: "\",\"offset\":" as StaticString)
                    message.append(decimal: offset)
                    message.append(text: "}}" as StaticString)
                } else {
                    message.append(text: "\"}" as StaticString)
                }
            }
            message.append(text: "]}}" as StaticString)
            send(.text, message)
        }
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        _ = connection?.send(WebSocketEncoder.maskedFrame(opcode, payload: payload, mask: 0x5a5a_5a5a))
    }

    private static func closeFrame(_ code: UInt16) -> [UInt8] {
        WebSocketEncoder.maskedFrame(
            .close, payload: WebSocketEncoder.closeBody(code: code, reason: ""), mask: 0x5a5a_5a5a)
    }

    func deadlineReached() {
        guard stage == .live else { connection?.abort(.timeout); return }
        guard !isStalled else { return watchSilence() }
        let silentMs = (Clock.monotonicUs() - readUs) / 1_000
        if silentMs >= CrowdClient.silenceMs { connection?.abort(.timeout) } else { watchSilence() }
    }

    private func watchSilence() {
        let since = isStalled ? crowd.reactor.nowMs : readUs / 1_000
        connection?.setDeadline(at: max(since + CrowdClient.silenceMs, crowd.reactor.nowMs + 1_000))
    }

    // MARK: Received data

    func received(_ bytes: Span<UInt8>) {
        var position = 0
        readUs = Clock.monotonicUs()
        if stage == .upgrading {
            for index in 0..<bytes.count { head.append(bytes[index]) }
            switch WebSocketClientHandshake.check(
                head, headBytesMax: 16_384, accept: CrowdClient.accept, subprotocols: [])
            {
            case .incomplete: return
            case .open(let count, _):
                position = bytes.count - (head.count - count)
                head = []
                upgraded()
            case .refused(let status): return refuse("http_\(status)")
            case .failed(let failure): return refuse(failure.rawValue)
            }
        }
        while isConnected, let event = decoder.next(bytes, at: &position) {
            switch event {
            case .message(_, let payload): take(payload)
            case .ping(let payload): send(.pong, payload)
            // The client never agrees on deflated messages.
            case .pong, .deflated: break
            case .close(let code, _):
                closeCode = Int(code ?? 1_005)
                connection?.close(.normal, last: CrowdClient.closeFrame(code ?? 1_000))
            case .failed:
                crowd.unreadable(self)
                connection?.abort(.protocolError)
            }
        }
    }

    private func refuse(_ reason: String) {
        refusal = reason
        connection?.abort(.protocolError)
    }

    private func take(_ payload: [UInt8]) {
        let text = payload.span
        guard let frame = FrameScanner(text) else { return crowd.unreadable(self) }
        if frame.isNamed("subscribed", text) || frame.isNamed("gap", text) || frame.isNamed("error", text)
            || frame.isNamed("draining", text)
        {
            return takeControl(payload, frame)
        }
        crowd.log.begin("E", client: number, atUs: readUs)
        crowd.log.add(text, frame.topic)
        crowd.log.add(frame.offset)
        crowd.log.add(text, frame.event)
        crowd.log.add(text, frame.mark)
        crowd.log.add(hexadecimal: crowd.crc.sum(text, frame.payload ?? 0..<0))
        crowd.log.end()
        if let offset = frame.offset, let index = place(text, frame.topic) { places[index].came(offset) }
        crowd.eventCame(latencyUs: frame.sentUs.map { readUs - $0 })
    }

    /// Processes a message of the gateway that is no event.
    private func takeControl(_ payload: [UInt8], _ frame: FrameScanner) {
        let text = payload.span
        guard let root = try? JSON(parsing: payload, limits: CrowdClient.jsonLimits).root else {
            return crowd.unreadable(self)
        }
        let values = root["data"]
        let epoch = values?["epoch"]?.stringBytes
        let offset = values?["offset"]?.int
        let index = place(text, frame.topic)
        if frame.isNamed("subscribed", text) {
            guard let index, let epoch, let offset, let recovered = values?["recovered"]?.bool else {
                return crowd.unreadable(self)
            }
            subscribed(index, epoch, offset, recovered)
        } else if frame.isNamed("gap", text) {
            crowd.log.begin("G", client: number, atUs: readUs)
            crowd.log.add(text, frame.topic)
            crowd.log.add(epoch)
            crowd.log.add(offset)
            crowd.log.add(values?["reason"]?.stringBytes)
            crowd.log.end()
            crowd.gapCame()
            if let index, let epoch, let offset { places[index].move(epoch: epoch, offset: offset) }
        } else if frame.isNamed("draining", text) {
            drainMs = values?["reconnectAfterMs"]?.int.map { max($0, 0) }
            crowd.log.begin("W", client: number, atUs: readUs)
            crowd.log.add(drainMs)
            crowd.log.end()
        } else {
            crowd.log.begin("X", client: number, atUs: readUs)
            crowd.log.add(text, frame.topic)
            crowd.log.add(values?["code"]?.stringBytes)
            crowd.log.end()
            crowd.errorCame()
            refused(index)
        }
    }

    /// Subscribes again later: to the topic, or to all without an answer when the whole request was refused.
    private func refused(_ index: Int?) {
        guard stage == .subscribing else { return }
        for place in places.indices where index.map({ $0 == place }) ?? (places[place].state == .asked) {
            places[place].state = .open
        }
        if !isRetryDue { timer?.set(atMs: Clock.monotonicMs() + subscribePause.next()) }
        isRetryDue = true
    }

    private func subscribed(_ index: Int, _ epoch: [UInt8], _ offset: Int, _ recovered: Bool) {
        crowd.log.begin("S", client: number, atUs: readUs)
        crowd.log.add(crowd.options.topics.name(places[index].topic))
        crowd.log.add(epoch)
        crowd.log.add(offset)
        crowd.log.add(recovered ? 1 : 0)
        crowd.log.add(places[index].asked?.epoch)
        crowd.log.add(places[index].asked?.offset)
        crowd.log.end()
        places[index].subscribed(epoch: epoch, offset: offset, recovered: recovered)
        guard stage == .subscribing, places.allSatisfy({ $0.state == .subscribed }) else { return }
        stage = .live
        timer?.clear()
        pause.succeeded()
        watchSilence()
        crowd.isLive(afterUs: readUs - beganUs)
        if isStalled { connection?.pauseReading() }
    }

    /// The index among the client's topics; `nil` for another topic.
    private func place(_ text: Span<UInt8>, _ range: Range<Int>?) -> Int? {
        guard let range, let topic = crowd.options.topics.number(text, range) else { return nil }
        let (perClient, count) = (crowd.options.perClient, crowd.options.topics.count)
        let index = (topic - number * perClient % count + count) % count
        return index < perClient ? index : nil
    }
}
