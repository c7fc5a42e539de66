import Connections
import Core
import Dialects
import Reactors
import TestSupport
import Testing
import Traces

@testable import Operations
@testable import Topics

/// A deterministic model of everything around a ``TopicTable``.
///
/// Redis with its log and channel, the broker, the way of messages and replies, and clients that check what they are
/// told. One topic; every step is chosen by a seed. In every other history somebody forges positions.
final class TopicWorld: TopicReader, ChannelInterest {
    /// Something the model does wrong on purpose, to prove that the checks see it.
    enum Fault: CaseIterable {
        /// The channel was lost and nobody is told.
        case lossIsSilent
        /// A read of the log leaves its last event out and says that it is complete.
        case readIsShort
        /// A client gets an event twice.
        case eventIsDoubled
        /// A client gets two events in the wrong order.
        case orderIsWrong
        /// A gap is not passed on.
        case gapIsSwallowed
        /// An answer tells a position beyond what it brought.
        case positionIsAhead
        /// A reply gets lost.
        case replyIsLost
        /// A read for a repair says that nothing was missed.
        case nothingIsRepaired
    }

    /// One request on the way to Redis, and its answer on the way back.
    struct Request {
        let order: LogRead.Order
        let since: Position?
        /// The last event that the shard knew of when it asked.
        let top: Position?
        let completion: LogRead.Completion
        var answer: LogRead.Answer?
    }

    enum ChannelItem {
        case confirmed
        case event(ChannelMessage)
        case lost
    }

    static let limits = {
        var limits = Limits()
        limits.heldEventsMax = 4
        limits.fanoutSliceMembers = 1
        return limits
    }()
    /// Events in one answer.
    static let readMax = 3
    /// Shared by the runs of a thread: what they count is not looked at.
    struct Fixtures {
        let statistics: ShardStatistics
        let topic: Topic
        let event: EventName

        init() throws {
            topic = try #require(Topic("shop:42"))
            event = try #require(EventName("e".utf8))
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
            statistics = ShardStatistics(
                transport: context.statistics, loop: reactor.statistics, namespaces: [], timed: TimedPublishes())
        }
    }

    let fault: Fault?
    /// Whether somebody forges events: every other history.
    private let isHostile: Bool
    let topic: Topic
    let event: EventName
    var random: Seeded
    private var nowMs = 1_000_000
    lazy var table = TopicTable<ModelClient>(
        limits: TopicWorld.limits, store: self,
        channels: self,
        statistics: statistics, trace: SessionTrace(bytesMax: 0, nowMs: { 0 }),
        nowMs: { [unowned self] in nowMs })
    private let statistics: ShardStatistics

    // Redis.
    var epoch = 0
    var offset = 0
    var log: [ChannelMessage] = []
    let logMax: Int
    /// Offsets reached by the epochs that are over.
    var endings: [Int] = []
    var isSubscribed = false
    /// The last position that an answer told the shard.
    var told: Position?
    // The broker.
    private var isWanted = false
    /// The table's requests for the channel and to give it up, oldest first.
    private var wishes: [Bool] = []
    // On the way.
    var channel: [ChannelItem] = []
    var requests: [Request] = []
    /// Whether an event disappeared: only the next one tells of it.
    var hasDropped = false

    /// Whether nothing fails any more, so that everything can come to rest.
    var isResting = false
    private(set) var clients: [ModelClient] = []
    private(set) var violation: String?
    /// What happened, for the report of a failure; kept only when asked for.
    private(set) var story: [String] = []
    private let keepsStory: Bool

    init(seed: UInt64, fixtures: Fixtures, fault: Fault? = nil, keepsStory: Bool = false) {
        random = Seeded(seed)
        logMax = Int(seed % 6)
        (topic, event) = (fixtures.topic, fixtures.event)
        statistics = fixtures.statistics
        self.fault = fault
        isHostile = fault == nil && seed % 2 == 1
        self.keepsStory = keepsStory
        clients = (0..<3).map { ModelClient(number: $0, world: self) }
    }

    func note(_ transport: @autoclosure () -> String) {
        if keepsStory { story.append(transport()) }
    }

    func violated(_ what: @autoclosure () -> String) {
        if violation == nil { violation = what() }
        note("VIOLATION")
    }

    /// Whether the fault happens here and now.
    func strikes(_ fault: Fault) -> Bool {
        self.fault == fault && Int.random(in: 0..<3, using: &random) == 0
    }

    static func position(_ epoch: Int, _ offset: Int) -> Position? {
        Position(
            epoch: [UInt8(truncatingIfNeeded: 97 + epoch % 26), UInt8(truncatingIfNeeded: 97 + epoch / 26)],
            offset: offset)
    }

    static func epoch(of position: Position) -> Int {
        Int(position.epoch[0]) - 97 + (Int(position.epoch[1]) - 97) * 26
    }

    // MARK: The broker

    func want(_ topic: Topic) -> Bool {
        wishes.append(true)
        return false
    }

    func unwant(_ topic: Topic) { wishes.append(false) }

    private func takeWishes() {
        for isForChannel in wishes {
            note(isForChannel ? "want" : "unwant")
            if isForChannel {
                if isWanted && isSubscribed { channel.append(.confirmed) }
                isWanted = true
            } else {
                (isWanted, isSubscribed) = (false, false)
            }
        }
        wishes.removeAll()
    }

    private func confirm() {
        guard isWanted && !isSubscribed else { return }
        isSubscribed = true
        note("confirm")
        channel.append(.confirmed)
    }

    /// The newest messages on the way are lost with the connection, or because the shard's mailbox is full; then the
    /// subscription itself lives on.
    func lose(keepsSubscription: Bool, keepsMessages: Bool = true) {
        guard isSubscribed else { return }
        let kept = keepsMessages ? Int.random(in: 0...channel.count, using: &random) : 0
        channel.removeSubrange(kept...)
        note("lose; \(kept) still on the way")
        if fault != .lossIsSilent || !keepsSubscription { channel.append(.lost) }
        if !keepsSubscription { isSubscribed = false }
        if keepsSubscription && fault != .lossIsSilent { channel.append(.confirmed) }
    }

    /// One event on the way disappears without a word, as one does that the broker cannot read.
    private func drop() {
        guard
            let index = channel.indices.randomElement(using: &random), case .event(let message) = channel[index]
        else { return }
        note("drop \(message.position?.offset ?? 0)")
        channel.remove(at: index)
        hasDropped = true
    }

    private func deliver() {
        guard !channel.isEmpty else { return }
        switch channel.removeFirst() {
        case .confirmed:
            note("confirmed")
            table.confirmed(topic)
        case .lost:
            note("lost")
            table.lost()
        case .event(let message):
            note("event \(message.position.map { "\(TopicWorld.epoch(of: $0)):\($0.offset)" } ?? "")")
            table.received(topic, message)
        }
    }

    // MARK: Steps

    /// One step of the world, chosen by the seed.
    private func step() {
        if isHostile, Int.random(in: 0..<8, using: &random) == 0 { return forge() }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: publish()
        case 22..<23: for _ in 0..<7 { publish() }
        case 23..<24: drop()
        case 24..<42:
            // A turn may end between two messages or bring both.
            deliver()
            if Bool.random(using: &random) { table.endBatch() }
            // The topic is large for its members: one of them has its turn.
            if Bool.random(using: &random) { _ = table.serveSlice() }
        case 42..<52: execute()
        case 52..<62: reply()
        case 62..<64: reply(failing: true)
        case 64..<70: takeWishes()
        case 70..<76: confirm()
        case 76..<88: act(clients[Int.random(in: 0..<clients.count, using: &random)])
        case 88..<90: lose(keepsSubscription: false)
        case 90..<92: lose(keepsSubscription: true)
        case 92..<94: flush()
        case 94: rollBack()
        case 95: pass(ms: 250)
        case 96..<98: pass(ms: 1_100)
        default: pass(ms: 10)
        }
    }

    private func pass(ms: Int) {
        nowMs += ms
        table.sweep()
    }

    private func act(_ client: ModelClient) {
        if let membership = client.membership {
            guard Int.random(in: 0..<2, using: &random) == 0 else { return }
            note("client \(client.number) leaves")
            client.forget()
            table.leave(client, membership.feed, place: membership.place)
        } else {
            let since = Int.random(in: 0..<3, using: &random) == 0 ? nil : client.stand
            note("client \(client.number) joins")
            client.asks(since)
            table.join(client, SubscribeRequest(topic: topic, since: since), ref: nil)
        }
    }

    /// Runs so many random steps, then lets everything come to rest and checks who stands where.
    func run(steps: Int) {
        for _ in 0..<steps where violation == nil { step() }
        note("rest")
        isResting = true
        for round in 0..<80 where violation == nil {
            takeWishes()
            confirm()
            while !channel.isEmpty { deliver() }
            table.endBatch()
            while table.hasRounds { _ = table.serveSlice() }
            while requests.contains(where: { $0.answer == nil }) { execute() }
            while requests.first?.answer != nil { reply() }
            pass(ms: 250)
            let isQuiet = requests.isEmpty && channel.isEmpty && round > 4
            guard isQuiet, clients.allSatisfy({ $0.membership?.place != nil || $0.membership == nil }) else { continue }
            guard hasDropped else { break }
            hasDropped = false
            publish()
        }
        guard violation == nil else { return }
        guard requests.isEmpty, channel.isEmpty, !hasDropped else { return violated("nothing comes to rest") }
        for client in clients { checkRest(client) }
        let report = table.report(topic)
        if !report.isBalanced { violated("the ledger does not balance: \(report)") }
    }

    /// Everybody live has seen everything, or was told of a gap that reaches up to the end.
    private func checkRest(_ client: ModelClient) {
        guard let membership = client.membership else { return }
        guard membership.place != nil, let stand = client.stand else {
            return violated("client \(client.number) waits for ever")
        }
        let at = TopicWorld.epoch(of: stand)
        if at == epoch && stand.offset == offset { return }
        // An epoch without events need not be told.
        let begun = endings.indices.last { endings[$0] > 0 && $0 <= epoch } ?? 0
        if offset == 0 && at >= begun && at < epoch && stand.offset == endings[at] { return }
        violated("client \(client.number) stands at \(at):\(stand.offset), the log at \(epoch):\(offset)")
    }
}
