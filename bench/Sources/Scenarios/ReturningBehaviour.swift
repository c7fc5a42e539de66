import Connections
import Core
import Reactors

/// Subscribers that reconnect after a loss, with their TLS session and from their position.
///
/// The random pause before it doubles with each failure. They reconnect only once a load has begun; before it, a client
/// that cannot connect has failed. Thread: main.
class ReturningBehaviour: ClientBehaviour {
    /// The state of a client.
    struct Member {
        var place = CrowdPlace(topic: 0)
        var pause = JitteredPause()
        /// When it connects again; `nil` when it is connected or no time is set.
        var dueUs: Int?
        /// Events up to this offset were requested with `since`: their age shows how long the client was away.
        var owedUntil = 0
        /// When its last live connection was lost, until it is live again.
        var lostUs: Int?
        var isLive = false
    }

    let crew: ClientCrew
    var figures = ReturnFigures()
    private(set) var plan: LoadPlan?
    lazy var members = Array(repeating: Member(), count: crew.clients.count)
    /// Number of clients that are not live.
    private var missing = 0

    /// The question to a process at the end of the load.
    static let report = "report"
    private static let slowCode = 4_410
    private static let jsonLimits = JSON.Limits(depthMax: 64, elementsMax: 10_000)

    init(_ crew: ClientCrew) {
        self.crew = crew
    }

    final func index(_ client: LoadClient) -> Int { client.number - crew.firstNumber }

    /// Whether a client's deliveries count for latencies.
    func isTimed(_ client: LoadClient) -> Bool { true }

    /// When a lost client has to connect again; `nil` for a later decision.
    func returnUs(_ client: LoadClient, afterMs pauseMs: Int) -> Int? {
        Clock.monotonicUs() + pauseMs * 1_000
    }

    // MARK: Connecting

    func topic(_ number: Int) -> String { crew.options.topicName(number % crew.options.topics) }

    func upgraded(_ client: LoadClient) -> Target.Step {
        let index = index(client)
        figures.handshakes += 1
        if client.connection?.wasTLSResumed == true { figures.resumed += 1 }
        members[index].place.ask()
        guard let (epoch, offset) = members[index].place.asked else {
            return crew.options.target.upgraded(topic: topic(client.number), client.dialect)
        }
        return .say(
            "{\"event\":\"subscribe\",\"data\":{\"topic\":\"\(topic(client.number))\",\"since\":{\"epoch\":\""
                + "\(String(decoding: epoch, as: UTF8.self))\",\"offset\":\(offset)}}}")
    }

    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step {
        guard let frame = FrameScanner(text) else { return .refused }
        guard frame.isNamed("subscribed", text) else { return frame.isNamed("error", text) ? .refused : .wait }
        let index = index(client)
        guard let position = ReturningBehaviour.position(frame, text), let recovered = position.recovered else {
            return .refused
        }
        if let asked = members[index].place.asked {
            if recovered { figures.recovered += 1 } else { figures.notRecovered += 1 }
            if !recovered { tellMissed(from: asked, to: position) }
            if recovered { members[index].owedUntil = position.offset }
        }
        members[index].place.subscribed(epoch: position.epoch, offset: position.offset, recovered: recovered)
        return .live
    }

    func isLive(_ client: LoadClient) {
        let index = index(client)
        if client.session == nil { client.session = TLSClientSession(crew.tls, name: "") }
        // Its first message was received, and the server's tickets before that.
        if let session = client.session { client.connection?.saveSession(in: session) }
        members[index].pause.succeeded()
        members[index].isLive = true
        guard let lostUs = members[index].lostUs else { return }
        let nowUs = Clock.monotonicUs()
        members[index].lostUs = nil
        missing -= 1
        figures.returns.append(ReturnFigures.Return(client: client.number, lostUs: lostUs, liveUs: nowUs))
        figures.connect.add(nowUs - client.beganUs)
    }

    // MARK: Disconnecting

    func ended(_ client: LoadClient) -> Bool {
        guard plan != nil else { return false }
        let index = index(client)
        if members[index].isLive {
            members[index].isLive = false
            members[index].lostUs = Clock.monotonicUs()
            missing += 1
            figures.lost += 1
            if client.closeCode == ReturningBehaviour.slowCode { figures.closedSlow += 1 }
        } else {
            figures.failedAttempts += 1
        }
        // At the next server, when there are several.
        client.urlTurns += 1
        members[index].dueUs = returnUs(client, afterMs: members[index].pause.next())
        return false
    }

    func begins(_ plan: LoadPlan) {
        self.plan = plan
        figures = ReturnFigures()
    }

    func tick(_ nowUs: Int) {
        guard missing > 0 else { return }
        for index in members.indices {
            guard let dueUs = members[index].dueUs, dueUs <= nowUs else { continue }
            members[index].dueUs = nil
            crew.clients[index].connect()
        }
    }

    // MARK: While live

    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int) {
        let index = index(client)
        guard let frame = FrameScanner(text) else {
            figures.unreadable += 1
            return
        }
        if frame.isNamed("gap", text) {
            guard let position = ReturningBehaviour.position(frame, text) else {
                figures.unreadable += 1
                return
            }
            figures.gaps += 1
            if let epoch = members[index].place.epoch {
                tellMissed(from: (epoch, members[index].place.offset), to: position)
            }
            return members[index].place.move(epoch: position.epoch, offset: position.offset)
        }
        // Messages that are no event of the topic: `warning`, `draining`.
        guard let offset = frame.offset else { return }
        members[index].place.came(offset)
        let isOwed = offset <= members[index].owedUntil
        if isOwed { figures.recoveredEvents += 1 }
        crew.count(client, text, nowUs: nowUs, isTimed: !isOwed && isTimed(client))
    }

    private func tellMissed(from: (epoch: [UInt8], offset: Int), to position: Position) {
        if from.epoch == position.epoch {
            figures.toldMissed += max(position.offset - from.offset, 0)
        } else {
            figures.newEpochs += 1
        }
    }

    /// The position in a `subscribed` or a `gap`.
    struct Position {
        var epoch: [UInt8]
        var offset: Int
        var recovered: Bool?
    }

    private static func position(_ frame: FrameScanner, _ text: Span<UInt8>) -> Position? {
        guard let range = frame.payload,
            let data = try? JSON(
                parsing: LoadClient.copy(text.extracting(range), range.count), limits: jsonLimits),
            let epoch = data.root["epoch"]?.stringBytes, let offset = data.root["offset"]?.int
        else { return nil }
        return Position(epoch: epoch, offset: offset, recovered: data.root["recovered"]?.bool)
    }

    // MARK: The end

    func told(_ text: String) {
        guard text == ReturningBehaviour.report else { return }
        if let line = try? JSONLine.encode(figures) {
            crew.said.append(String(decoding: line.dropLast(), as: UTF8.self))
        }
    }

    var isDone: Bool { missing == 0 }
}
