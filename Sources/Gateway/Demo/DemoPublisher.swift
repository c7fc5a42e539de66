import Commands
public import Configuration
import Core
import Reactors
import RedisLink
import Rights
public import Service
import Synchronization
import Transport

/// Traffic for the page of `switchboard dev`: a shop with a queue, a DJ's votes and a leaderboard, by chance.
///
/// It publishes as any backend may: through the publish script, on its own link. Thread: `start` and `stop` from
/// main; the rest on its own.
public final class DemoPublisher: Sendable {
    private let wake: Wake
    private let isStopping = Atomic<Bool>(false)
    private let thread = Guarded<Reactors.Thread?>(nil)

    /// Starts publishing with the settings of a gateway.
    public init(_ settings: GatewaySettings) throws(StartProblem) {
        let parts = try NodeParts(settings)
        let keys = Keys(prefix: Array(settings.redisPrefix.utf8))
        do {
            wake = try Wake()
            let started = try Reactors.Thread.start("demo") { [self] in
                guard let reactor = try? Reactor(wake: wake),
                    let scene = try? DemoScene(reactor: reactor, parts: parts, keys: keys, limits: settings.limits)
                else { return }
                reactor.onMailbox = { [self] in
                    if isStopping.load(ordering: .acquiring) { reactor.stop() }
                }
                withExtendedLifetime(scene) { reactor.run() }
            }
            thread.withLock { $0 = started }
        } catch {
            throw StartProblem("cannot start the demo: \(error)")
        }
    }

    /// Ends the traffic.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}

/// The demo's state and its next events.
///
/// Thread: the demo's.
private final class DemoScene {
    private let reactor: Reactor
    private let link: CommandLink
    private let store: Store
    private let keys: Keys
    private var timer: ReactorTimer?
    private var random = SystemRandomNumberGenerator()
    private var queueLength = 3
    private var barbers = 2
    private var votes = [3, 1, 2]
    private var points = [120, 95, 80]
    private var step = 0

    /// Names for the demo's tracks; there are as many votes.
    private static let tracks = ["Night Bus", "Clipper Season", "Second Chair"]

    init(reactor: Reactor, parts: NodeParts, keys: Keys, limits: Limits) throws(Errno) {
        self.reactor = reactor
        self.keys = keys
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
        link = try CommandLink(
            context, parts.redis, name: "switchboard-demo", registry: parts.library.table.registry, onReady: { _ in })
        store = Store(link: link, scripts: parts.scripts, keys: keys, limits: limits, access: parts.access)
        timer = try ReactorTimer(reactor) { [unowned self] in play() }
        timer?.set(atMs: reactor.nowMs)
    }

    private func play() {
        timer?.set(atMs: reactor.nowMs + 700)
        guard store.isReady else { return }
        step += 1
        switch step % 3 {
        case 0: queue()
        case 1: vote()
        default: leaderboard()
        }
    }

    private func queue() {
        queueLength = min(max(queueLength + Int.random(in: -1...1, using: &random), 0), 9)
        barbers = min(max(barbers + Int.random(in: -1...1, using: &random), 1), 4)
        // The seed's formula with a mean service time of 20 minutes.
        let wait = (queueLength * 20 + barbers - 1) / barbers
        let blackCard = max(Double(wait) * 0.4, 5)
        let text = """
            {"shopId":"demo","queueLength":\(queueLength),"avgWaitTime":\(wait),"currentlyServing":\(barbers),\
            "estimatedWaitTimes":{"standard":\(wait),"blackCard":\(blackCard)},\
            "updatedAt":"\(Timestamp.text(wallMs: Clock.wallMs()))"}
            """
        let cache = keys.queue(shop: Array("demo".utf8))
        link.call(RedisCommand("SET", cache, Array(text.utf8), Array("EX".utf8), Array("60".utf8))) { _ in }
        publish("shop:demo", "queue:update", text)
    }

    private func vote() {
        let track = Int.random(in: votes.indices, using: &random)
        votes[track] += Bool.random(using: &random) ? 1 : -1
        let order = votes.indices.sorted { votes[$0] > votes[$1] }
        let place = (order.firstIndex(of: track) ?? 0) + 1
        publish(
            "dj:demo", "queue:update",
            """
            {"trackId":"t\(track + 1)","trackName":"\(DemoScene.tracks[track])","score":\(votes[track]),\
            "position":\(place)}
            """)
    }

    private func leaderboard() {
        let player = Int.random(in: points.indices, using: &random)
        points[player] += Int.random(in: 1...20, using: &random)
        let rank = points.count { $0 > points[player] } + 1
        publish(
            "challenge:demo", "leaderboard:update",
            "{\"challengeId\":\"demo\",\"userId\":\"u\(player + 1)\",\"rank\":\(rank),\"score\":\(points[player])}")
    }

    private func publish(_ topic: String, _ event: String, _ data: String) {
        guard let topic = Topic(topic), let event = EventName(event) else { return }
        store.publish(topic, event, Array(data.utf8), nil) { _ in }
    }
}
