import Commands
import Connections
import Core
import Dialects
import Reactors
import Rights
import TestSupport
import Testing
import Traces

@testable import Operations
@testable import Sessions
@testable import Topics

/// A deterministic model of everything around ``Session``: the topics are the real ones.
///
/// Redis with logs, channels, memberships and followed sets, the way of calls and replies, tokens, and clients that
/// check what they are told. Every step is chosen by a seed.
final class SessionWorld: TopicReader, QuietServices, TopicAccess, ChannelInterest {
    /// One call on the way to Redis, and its answer on the way back.
    private struct Call {
        /// What Redis does; `nil` when it was done.
        var run: (() -> Void)?
        let reply: (_ isFailing: Bool) -> Void
    }

    private enum ChannelItem {
        case confirmed
        case event(ChannelMessage)
    }

    /// A topic in Redis and on its way to the shard.
    private struct TopicModel {
        var offset = 0
        var log: [ChannelMessage] = []
        var isWanted = false
        var isSubscribed = false
        var channel: [ChannelItem] = []
    }

    /// Shared by the runs of a thread: what they count is not looked at.
    struct Fixtures {
        let statistics: ShardStatistics
        let access: AccessPolicy
        let event: EventName
        let changed: EventName
        let topics: [Topic]

        init() throws {
            event = try #require(EventName("e"))
            changed = try #require(EventName("follows:changed"))
            topics = try [
                "shop:1", "shop:2", "conversation:1", "conversation:2", "user:u", "feed:1", "feed:2", "feed:3",
            ].map { try #require(Topic($0)) }
            access = try AccessPolicy(StandardTables.namespaces)
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
            statistics = ShardStatistics(
                transport: context.statistics, loop: reactor.statistics, namespaces: [], timed: TimedPublishes())
        }
    }

    static let limits = {
        var limits = Limits()
        limits.topicsPerConnectionMax = 4
        limits.subscribeBatchMax = 3
        limits.joinsPerSecond = 3
        limits.followsMax = 8
        limits.followReadsPerSecond = 2
        limits.authenticationsPerSecond = 2
        limits.messagesPerSecond = 200
        limits.heldPublishesMax = 3
        limits.refusalsMax = 40
        return limits
    }()

    /// Nobody reads the bytes.
    let encoding = Encoding(number: 0, encoder: NativeEventEncoder(), framing: .webSocket, written: Counter())
    let fixtures: Fixtures
    var randomSource: Seeded
    private(set) var nowMs = 1_000_000
    var wallMs: Int { nowMs + 1_700_000_000_000 }
    /// `nil` once the run is over.
    private(set) var services: SessionServices?
    /// All that sessions of the run use, also those that have ended.
    var servicesMade: [SessionServices] = []
    private(set) lazy var topics = TopicTable<Session>(
        limits: SessionWorld.limits, store: self,
        channels: self,
        statistics: fixtures.statistics, trace: SessionTrace(bytesMax: 0, nowMs: { 0 }),
        nowMs: { [unowned self] in nowMs })
    /// The deliberate error of its clients' sessions; `nil` for none.
    let fault: TamperedSession.Fault?

    // Redis.
    private var redis: [Topic: TopicModel] = [:]
    private var members: Set<Topic> = []
    private(set) var followsSet: Set<Topic> = []
    private var calls: [Call] = []
    /// The table's requests for channels and to give them up, oldest first.
    private var wishes: [(topic: Topic, isForChannel: Bool)] = []

    // What is counted against what was paid.
    var joinsPaid = 0
    var joins = 0

    /// The topics that clients of this history speak of.
    private(set) var mood: [Topic] = []
    private(set) var isResting = false
    private(set) var clients: [SessionClient] = []
    private(set) var violation: String?
    private(set) var story: [String] = []
    private let keepsStory: Bool

    init(seed: UInt64, fixtures: Fixtures, fault: TamperedSession.Fault? = nil, keepsStory: Bool = false) {
        randomSource = Seeded(seed)
        self.fixtures = fixtures
        self.fault = fault
        self.keepsStory = keepsStory
        for topic in fixtures.topics { redis[topic] = TopicModel() }
        followsSet = Set(fixtures.topics.suffix(3).filter { _ in chance(2) })
        if chance(2) { members.insert(machine) }
        mood = pick([fixtures.topics, Array(fixtures.topics.suffix(4)), Array(fixtures.topics.prefix(4))])
        services = makeServices(budget: self)
        clients = (0..<2).map { SessionClient(number: $0, world: self) }
        for client in clients { client.open() }
    }

    /// A conversation whose members come and go; nobody is ever a member of the other one.
    var machine: Topic { fixtures.topics[2] }
    var closedTopic: Topic { fixtures.topics[3] }
    var ownTopic: Topic { fixtures.topics[4] }

    func note(_ transport: @autoclosure () -> String) {
        if keepsStory { story.append(transport()) }
    }

    func violated(_ what: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = what()
        note("VIOLATION")
    }

    /// True once in so many times.
    func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &randomSource) == 0 }

    func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &randomSource)] }

    static func position(_ offset: Int) -> Position? { Position(epoch: [UInt8(ascii: "e")], offset: offset) }

    // MARK: Calls

    func call(_ what: String, run: @escaping () -> Void, reply: @escaping (Bool) -> Void) {
        if !isResting, chance(12) {
            // A link that is down refuses before the call returns.
            note("\(what): refused at once")
            return reply(true)
        }
        note(what)
        calls.append(Call(run: run, reply: reply))
    }

    private static let unavailable = Refusal(.unavailable, "")

    func read(_ topic: Topic, _ order: LogRead.Order, since: Position?, _ completion: @escaping LogRead.Completion) {
        var answer: LogRead.Answer?
        call("read \(topic)") { [unowned self] in
            guard let model = redis[topic], let position = SessionWorld.position(model.offset) else { return }
            answer = LogRead.Answer(position: position, events: [], state: nil)
            if let since { answer?.events = model.log.filter { ($0.position?.offset ?? 0) > since.offset } }
        } reply: { isFailing in
            completion(answer.flatMap { isFailing ? nil : .success($0) } ?? .failure(SessionWorld.unavailable))
        }
    }

    func isMember(_ topic: Topic, user: [UInt8], _ completion: @escaping (Result<Bool, Refusal>) -> Void) {
        var answer = false
        call("ask member of \(topic)") { [unowned self] in
            answer = members.contains(topic)
        } reply: { isFailing in
            completion(isFailing ? .failure(SessionWorld.unavailable) : .success(answer))
        }
    }

    func follows(_ topic: Topic, _ completion: @escaping (Result<[Topic], Refusal>) -> Void) {
        var answer: [Topic] = []
        call("read follows") { [unowned self] in
            answer = fixtures.topics.filter { followsSet.contains($0) }
        } reply: { isFailing in
            completion(isFailing ? .failure(SessionWorld.unavailable) : .success(answer))
        }
    }

    func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        var answer = Replay(position: nil, events: [])
        call("replay of \(topic)") { [unowned self] in
            answer.position = redis[topic].flatMap { SessionWorld.position($0.offset) }
        } reply: { isFailing in
            completion(isFailing ? .failure(SessionWorld.unavailable) : .success(answer))
        }
    }

    func publish(
        _ request: PublishRequest, id: PublishID?, excluding origin: EchoExclusion?, payer: Payer,
        _ completion: @escaping (Result<Position, Refusal>) -> Void
    ) {
        var position: Position?
        call("publish on \(request.topic)") { [unowned self] in
            position = publish(request.topic, request.event)
        } reply: { isFailing in
            completion(position.flatMap { isFailing ? nil : .success($0) } ?? .failure(SessionWorld.unavailable))
        }
    }

    /// Redis runs the oldest call that it has not run.
    private func execute() {
        guard let index = calls.firstIndex(where: { $0.run != nil }) else { return }
        calls[index].run?()
        calls[index].run = nil
    }

    /// The oldest reply arrives, or fails on the way.
    private func reply(isFailing: Bool = false) {
        guard let call = calls.first, call.run == nil else { return }
        calls.removeFirst()
        note("reply\(isFailing ? " fails" : "")")
        call.reply(isFailing)
    }

    // MARK: Redis

    @discardableResult
    private func publish(_ topic: Topic, _ event: EventName) -> Position? {
        guard var model = redis[topic] else { return nil }
        model.offset += 1
        let position = SessionWorld.position(model.offset)
        let message = ChannelMessage(position: position, event: event, id: nil, data: [])
        model.log.append(message)
        if model.isSubscribed { model.channel.append(.event(message)) }
        redis[topic] = model
        note("published \(topic) \(model.offset)")
        return position
    }

    func offset(_ topic: Topic) -> Int { redis[topic]?.offset ?? 0 }

    private func changeFollows() {
        let topic = pick(Array(fixtures.topics.suffix(3)))
        if followsSet.remove(topic) == nil { followsSet.insert(topic) }
        note("follows \(followsSet.map(\.description).sorted())")
        publish(ownTopic, fixtures.changed)
    }

    func want(_ topic: Topic) -> Bool {
        wishes.append((topic, true))
        return false
    }

    func unwant(_ topic: Topic) { wishes.append((topic, false)) }

    private func takeWishes() {
        for (topic, isForChannel) in wishes {
            if isForChannel, redis[topic]?.isWanted == true, redis[topic]?.isSubscribed == true {
                redis[topic]?.channel.append(.confirmed)
            }
            redis[topic]?.isWanted = isForChannel
            if !isForChannel { redis[topic]?.isSubscribed = false }
        }
        wishes.removeAll()
    }

    private func confirm() {
        for topic in fixtures.topics {
            guard redis[topic]?.isWanted == true, redis[topic]?.isSubscribed == false else { continue }
            redis[topic]?.isSubscribed = true
            redis[topic]?.channel.append(.confirmed)
        }
    }

    private func deliver(_ topic: Topic) {
        guard redis[topic]?.channel.isEmpty == false, let item = redis[topic]?.channel.removeFirst() else { return }
        switch item {
        case .confirmed:
            note("confirmed \(topic)")
            topics.confirmed(topic)
        case .event(let message):
            note("event of \(topic) \(message.position?.offset ?? 0)")
            topics.received(topic, message)
        }
    }

    // MARK: Steps

    private func step() {
        switch Int.random(in: 0..<100, using: &randomSource) {
        case 0..<34: pick(clients).act()
        case 34..<40: publish(pick(fixtures.topics), fixtures.event)
        case 40..<43: changeFollows()
        case 43..<46: if members.remove(machine) == nil { members.insert(machine) }
        case 46..<58: execute()
        case 58..<70: reply()
        case 70..<73: reply(isFailing: true)
        case 73..<78: takeWishes()
        case 78..<82: confirm()
        case 82..<92:
            deliver(pick(fixtures.topics))
            if chance(2) { topics.endBatch() }
        case 92..<94: pass(ms: 1_100)
        default: pass(ms: 50)
        }
    }

    private func pass(ms: Int) {
        nowMs += ms
        topics.sweep()
        for client in clients { client.timePassed() }
    }

    /// Brings everything to rest that is under way.
    private func rest() {
        isResting = true
        var quiet = 0
        for _ in 0..<200 where violation == nil && quiet < 6 {
            takeWishes()
            confirm()
            for topic in fixtures.topics { while redis[topic]?.channel.isEmpty == false { deliver(topic) } }
            topics.endBatch()
            while calls.contains(where: { $0.run != nil }) { execute() }
            while calls.first?.run == nil, !calls.isEmpty { reply() }
            quiet = calls.isEmpty ? quiet + 1 : 0
            pass(ms: 250)
        }
    }

    /// Runs so many random steps, then lets everything come to rest and checks who hears what.
    func run(steps: Int) {
        for _ in 0..<steps where violation == nil { step() }
        note("rest")
        rest()
        for client in clients where violation == nil { client.checkAnswers() }
        for client in clients { client.startListening() }
        for topic in fixtures.topics { publish(topic, fixtures.event) }
        rest()
        for client in clients where violation == nil { client.checkHearing() }
        checkMembers()
        checkUsers()
        if violation == nil, joins > joinsPaid { violated("\(joins) joins, \(joinsPaid) paid") }
        for client in clients { client.end() }
        checkUsers()
        // They hold the world in turn.
        (services, servicesMade) = (nil, [])
    }

    /// An operator finds the open sessions of the user, and no others.
    private func checkUsers() {
        let found = servicesMade.reduce(0) { $0 + $1.users.count(of: SessionClient.user) }
        let open = clients.count(where: \.isOfUser)
        if found != open { violated("\(open) sessions have a user, and \(found) are found by the name") }
    }

    /// Nobody is a member who does not know it.
    private func checkMembers() {
        for topic in fixtures.topics where violation == nil {
            let members = topics.report(topic).members
            let known = clients.count { $0.isExpectedMember(of: topic) }
            if members != known { violated("\(topic) has \(members) members, and \(known) clients know of it") }
        }
    }
}
