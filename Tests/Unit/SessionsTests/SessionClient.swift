import Connections
import Core
import Dialects
import Rights
import Testing

@testable import Sessions
@testable import Topics

/// A client of the model: it says what comes to its mind, and checks every word it is told.
final class SessionClient: SessionOutput {
    /// What a reference still has to be answered with.
    private struct Request {
        let what: String
        /// Topics whose answer is missing; `nil` for a request with one answer.
        var topics: Set<Topic>?
    }

    let number: Int
    func topicsHeld(besides sessionID: SessionID) -> Int { 0 }
    func firstWaiting(of topic: Topic) -> Position? { nil }
    func show(to tap: WireTap) { Issue.record("no operator watches the model") }
    var address: IPAddress? { nil }
    let load = QueueLoad()
    let dialectName = "model"
    private unowned let world: SessionWorld
    private var session: Session?
    /// Between the session and the client, where the session errs on purpose.
    private var tampered: TamperedSession?
    private var isClosing = false
    private var references = 0
    private var asked: [Int: Request] = [:]
    /// The number of the last unsubscribe of each topic.
    private var lastUnsubscribe: [Topic: Int] = [:]
    /// Topics of which the client was told that it has them.
    private var view: Set<Topic> = []
    /// The topic that ended with the message before this one, though the client had not asked for that.
    private var lost: Topic?
    private var stands: [Topic: Int] = [:]
    private var sinces: [Int: [Topic: Int]] = [:]
    /// Topics of the closed conversation that the present token grants.
    private var isGranted = false
    private var isUser = false
    /// Events heard since ``startListening()``, by the topic they came as; the second number counts those without offset.
    private var heard: [Topic: (positioned: Int, plain: Int)] = [:]

    init(number: Int, world: SessionWorld) {
        self.number = number
        self.world = world
    }

    /// The user of every token of the model.
    static let user = [UInt8(ascii: "u")]

    /// Whether it has an open session with a user.
    var isOfUser: Bool {
        guard case .user = session?.caller else { return false }
        return true
    }

    /// The identity that a token of the model stands for: `g` grants both conversations, `u` nothing.
    static func identity(_ token: [UInt8], expiresAt: Int) -> Identity? {
        guard let last = token.last, last != UInt8(ascii: "x") else { return nil }
        let grants = last == UInt8(ascii: "g") ? [TopicPattern("conversation:*")].compactMap(\.self) : []
        return Identity(user: user, role: .user, topics: grants, expiresAt: expiresAt)
    }

    // MARK: What it does

    func open() {
        var caller = Caller.anonymous
        isUser = !world.chance(3)
        isGranted = isUser && world.chance(2)
        let token = [UInt8(ascii: isGranted ? "g" : "u")]
        if isUser, let identity = SessionClient.identity(token, expiresAt: world.wallMs / 1_000 + 3_600) {
            caller = .user(identity)
        }
        guard let services = world.services else { return }
        if let fault = world.fault {
            let tampered = TamperedSession(fault, self, world, caller)
            (self.tampered, session) = (tampered, tampered.session)
        } else {
            session = Session(services, output: self, sessionID: .main, encoding: world.encoding, caller: caller)
        }
        world.note("client \(number) opens as \(isUser ? (isGranted ? "granted" : "user") : "nobody")")
    }

    func act() {
        guard let session else { return }
        if isClosing { return end() }
        if world.chance(60) { return end() }
        references += 1
        let ref = Reference(Array("\(references)".utf8))
        let request = ClientRequest(command: command(), ref: ref)
        if let tampered { tampered.received(request) } else { session.received(.success(request)) }
    }

    private func command() -> ClientCommand {
        let topics = world.mood
        switch Int.random(in: 0..<20, using: &world.randomSource) {
        case 0..<9:
            let count = world.chance(3) ? 3 : 1
            var requests: [SubscribeRequest] = []
            for _ in 0..<count {
                let topic = world.pick(topics)
                guard !requests.contains(where: { $0.topic == topic }) else { continue }
                // By the clock: it is told later where it stands.
                let replay = world.chance(4) ? ReplayRequest(sinceMs: 0) : nil
                let since = replay == nil && world.chance(2) ? stands[topic] : nil
                if let since { sinces[references, default: [:]][topic] = since }
                let position = since.flatMap { SessionWorld.position($0) }
                requests.append(SubscribeRequest(topic: topic, since: position, replay: replay))
            }
            asked[references] = Request(what: "subscribe", topics: Set(requests.map(\.topic)))
            world.note("client \(number) subscribes \(requests.map(\.topic.description)) ref \(references)")
            return .subscribe(requests)
        case 9..<14:
            let topic = world.pick(topics)
            asked[references] = Request(what: "unsubscribe", topics: [topic])
            lastUnsubscribe[topic] = references
            world.note("client \(number) unsubscribes \(topic) ref \(references)")
            return .unsubscribe([topic])
        case 14..<16:
            let topic = world.pick(topics)
            asked[references] = Request(what: "publish", topics: nil)
            world.note("client \(number) publishes on \(topic) ref \(references)")
            return .publish(PublishRequest(topic: topic, event: world.fixtures.event, data: [], id: nil))
        case 16..<19:
            let token = world.pick(["g", "u"])
            asked[references] = Request(what: "authenticate " + token, topics: nil)
            world.note("client \(number) authenticates \(token) ref \(references)")
            return .authenticate(token: Array(token.utf8))
        default:
            asked[references] = Request(what: "command", topics: nil)
            return world.chance(2) ? .ping : .command(name: "vote", arguments: CommandArguments(object: nil))
        }
    }

    func timePassed() {
        if let session, !isClosing, world.nowMs >= session.deadlineMs { session.deadlineReached() }
        if isClosing, world.isResting { end() }
    }

    /// The connection is over.
    func end() {
        guard let session else { return }
        world.note("client \(number) ends")
        session.ended(.peerGone, unsent: [:])
        self.session = nil
        tampered?.end()
        tampered = nil
        (asked, view) = ([:], [])
    }

    // MARK: What it is told

    func send(_ message: ServerMessage, at sessionID: SessionID, ref: Reference?) {
        guard session != nil, !isClosing else { return }
        let ref = ref.flatMap { ASCII.decimal($0.bytes) }
        defer { lost = if case .unsubscribed(let topic) = message, ref == nil { topic } else { nil } }
        switch message {
        case .subscribed(let topic, let position, let recovered, _):
            world.note("client \(number) subscribed \(topic) \(position.offset) ref \(ref ?? 0)")
            if let ref, (lastUnsubscribe[topic] ?? 0) > ref {
                world.violated("\(topic): the last word was unsubscribe")
            }
            view.insert(topic)
            stands[topic] = recovered ? ref.flatMap { sinces[$0]?[topic] } ?? position.offset : position.offset
            answered(ref, topic, "subscribe")
        case .unsubscribed(let topic):
            world.note("client \(number) unsubscribed \(topic) ref \(ref ?? 0)")
            if ref == nil, !view.contains(topic) { world.violated("\(topic) ends that was not there") }
            view.remove(topic)
            if ref != nil { answered(ref, topic, "unsubscribe") }
        case .error(let code, let text, let topic, _):
            if let topic, topic == lost, text == SessionWorld.unpaid.message {
                world.violated("\(topic) is ended by a request that was not paid")
            }
            world.note("client \(number) error \(code) \(topic?.description ?? "") ref \(ref ?? 0)")
            if ref != nil { answered(ref, topic, nil) }
        case .gap(let topic, let position, _):
            if let position { stands[topic] = position.offset }
        case .authenticated:
            if let ref, let what = asked[ref]?.what { isGranted = what.hasSuffix("g") }
            isUser = true
            answered(ref, nil, nil)
        case .ack, .published, .pong:
            answered(ref, nil, nil)
        case .replayed(let topic, _, let position): replayed(topic, upTo: position, ref)
        case .warning: break
        default: world.violated("client \(number) was told something else")
        }
    }

    private func answered(_ ref: Int?, _ topic: Topic?, _ what: String?) {
        guard let ref, var request = asked[ref], what == nil || request.what == what else {
            return world.violated("client \(number): \(ref ?? 0) is answered again")
        }
        guard var topics = request.topics else {
            asked[ref] = nil
            return
        }
        // A message may be refused as a whole.
        guard let topic else {
            asked[ref] = nil
            return
        }
        guard topics.remove(topic) != nil else {
            return world.violated("client \(number): \(ref) is answered again for \(topic)")
        }
        request.topics = topics
        asked[ref] = topics.isEmpty ? nil : request
    }

    func send(_ delivery: Delivery, _ encoding: Encoding, at sessionID: SessionID, isBacklog: Bool) -> Bool {
        delivery.counts.countUndeliverable()
        guard session != nil, !isClosing else { return true }
        let topic = delivery.topic
        guard view.contains(topic) else {
            world.violated("client \(number) hears \(topic), which it does not have")
            return true
        }
        guard let offset = delivery.message.position?.offset else {
            if topic != world.ownTopic { world.violated("client \(number): a plain event of \(topic)") }
            heard[topic, default: (0, 0)].plain += 1
            return true
        }
        world.note("client \(number) hears \(topic) \(offset)")
        if stands[topic] != offset - 1 {
            world.violated("client \(number) at \(stands[topic] ?? -1) of \(topic) hears \(offset)")
        }
        stands[topic] = offset
        heard[topic, default: (0, 0)].positioned += 1
        if !world.isResting, world.chance(150) { return false }
        return true
    }

    private func replayed(_ topic: Topic, upTo position: Position, _ ref: Int?) {
        guard let ref, asked[ref]?.topics?.contains(topic) == true else {
            return world.violated("client \(number) is told the past of \(topic), which it did not ask for")
        }
        if view.contains(topic), stands[topic] ?? 0 > position.offset {
            world.violated("client \(number) is told the past of \(topic) up to \(position.offset) only")
        }
        sinces[ref, default: [:]][topic] = position.offset
    }

    func close(_ reason: CloseReason) {
        world.note("client \(number) is closed: \(reason)")
        isClosing = true
    }

    func established() {}
    func deadlineChanged() {}

    // MARK: What must be true at rest

    /// Everything that was asked is answered.
    func checkAnswers() {
        guard session != nil, !isClosing else { return }
        if let (ref, request) = asked.min(by: { $0.key < $1.key }) {
            world.violated("client \(number): \(request.what) \(ref) was never answered")
        }
        if view.count > SessionWorld.limits.topicsPerConnectionMax {
            world.violated("client \(number) has too many topics")
        }
        if view.contains(world.closedTopic), !isGranted {
            world.violated("client \(number) has no right to this")
        }
    }

    func startListening() {
        heard = [:]
    }

    /// What was acknowledged is heard, once; nothing else is.
    func checkHearing() {
        guard session != nil, !isClosing else { return }
        for topic in world.fixtures.topics {
            let count = heard[topic]?.positioned ?? 0
            if count != (view.contains(topic) ? 1 : 0) {
                world.violated("client \(number) hears \(topic) \(count) times, told \(view.contains(topic))")
            }
        }
        let followed = world.followsSet.subtracting(view)
        let plain = heard[world.ownTopic]?.plain ?? 0
        if plain != (view.contains(world.ownTopic) ? followed.count : 0) {
            world.violated("client \(number) hears \(plain) followed events, follows \(followed.count)")
        }
    }

    /// Whether the client knows that it is a member of the topic, of itself or because it follows it.
    func isExpectedMember(of topic: Topic) -> Bool {
        guard session != nil else { return false }
        if view.contains(topic) { return true }
        return view.contains(world.ownTopic) && world.followsSet.contains(topic)
    }
}
