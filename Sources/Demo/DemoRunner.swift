import Commands
import Configuration
import Connections
import Core
import Dialects
import EventLogs
import Gateway
import Glibc
import Operations
import Reactors
import RedisLink
import Rights
import Service

/// Performs the steps that the demo's day decides, on a link of its own, and reports the state of the shop to the day.
///
/// While Redis is unavailable, or slow to answer, time in the shop stands still. Thread: the demo's.
final class DemoRunner: NodeResident {
    private let reactor: Reactor
    private let redis: WholeRedis
    private var link: any RedisCalls { redis.link }
    private let store: EventLog
    private let runner: CommandRunner
    private let catalogue: Catalogue
    private let keys: Keys
    private let json: JSON.Limits
    private let shop: Topic
    private let people: DemoPeople?
    private var timer: ReactorTimer?
    private var day = DemoDay(run: DemoGuests.randomText(6), random: SystemRandomNumberGenerator())
    private var step: DemoStep?
    private var inFlight = 0
    /// Number of connections to Redis so far, and of those on which the shop was set up.
    private let connections = Count()
    private var setUps = 0
    private var lastMs: Int
    /// The shop's time, milliseconds since the first morning; it begins when guests are being served.
    private var clockMs = DemoClock.ms(day: 0, minute: DemoClock.openMinutes.lowerBound + 40)
    private var lookMs = 0
    /// Bookings of others at the last look: one seen twice is not about to end.
    private var strangers: Set<String> = []

    private static let tickMs = 100
    private static let lookEveryMs = 1_500
    private static let inFlightMax = 64
    /// Calls keep their order: a voter has checked in before.
    private static let lane: UInt64 = 1
    /// Minutes that a service takes.
    ///
    /// Learned times would be seconds, since the day is accelerated.
    private static let averageMinutes = "24"

    init(
        reactor: Reactor, parts: NodeParts, settings: GatewaySettings, people: DemoPeople?, log: Log
    ) throws(Errno) {
        self.reactor = reactor
        self.people = people
        lastMs = reactor.nowMs
        keys = settings.keys
        json = settings.limits.answers
        catalogue = parts.library.catalogue
        guard let shop = Topic("shop:" + DemoCast.shop) else { throw Errno(code: EINVAL) }
        self.shop = shop
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(settings.limits, reactors: 1))
        let redis = try WholeRedis(
            context, parts.redis, name: "switchboard-demo", registry: parts.library.table.registry
        ) { [connections] update in
            if case .connected = update { connections.value += 1 }
        }
        self.redis = redis
        let statistics = ShardStatistics(
            transport: context.statistics, loop: reactor.statistics, namespaces: parts.access.namespaces,
            timed: TimedPublishes())
        let scheduler = try ReadScheduler(
            reactor, limits: settings.limits,
            budgets: Budgets(settings.limits, talkers: Talkers(), nowMs: reactor.nowMs), statistics: statistics)
        store = EventLog(
            reactor, link: redis.link, scripts: parts.scripts, keys: keys, limits: settings.limits,
            access: parts.access, scheduler: scheduler, statistics: statistics)
        runner = CommandRunner(
            link: redis.link, scripts: parts.library.table, settings: parts.commandSettings(settings),
            commands: parts.library.catalogue.command(named:)
        ) { name, text in
            log.write(.error, "a script failed", [("script", name), ("fault", String(text.prefix(500)))])
        }
        timer = try ReactorTimer(reactor) { [unowned self] in tick() }
        timer?.set(atMs: reactor.nowMs)
        reactor.onTurnEnd = { [unowned store] in store.sendPublishes() }
    }

    func end() { reactor.stop() }

    /// Does nothing: the shop has no files.
    func reload() {}

    // MARK: Time

    private func tick() {
        let passedMs = min(max(reactor.nowMs - lastMs, 0), 1_000)
        lastMs = reactor.nowMs
        timer?.set(atMs: reactor.nowMs + DemoRunner.tickMs)
        guard store.isReady, inFlight < DemoRunner.inFlightMax else { return }
        if setUps != connections.value { setUp() }
        clockMs += passedMs
        if people?.takeShopVisit() == true { day.welcome() }
        while inFlight < DemoRunner.inFlightMax {
            let next = step ?? day.next()
            step = next
            guard next.atMs <= clockMs else { break }
            step = nil
            perform(next.action)
        }
        lookMs -= passedMs
        guard lookMs <= 0 else { return }
        lookMs = DemoRunner.lookEveryMs
        look()
    }

    /// Sets up the shop on a new connection: the store behind it may have lost its data.
    private func setUp() {
        if setUps > 0 { day.resume() }
        setUps = connections.value
        let service = keys.domain(shop, facet: "service", member: nil)
        let command = RedisCall(
            "HSET", service, Array("averageMinutes".utf8), Array(DemoRunner.averageMinutes.utf8))
        link.call(command) { _ in }
    }

    private func perform(_ action: DemoStep.Action) {
        switch action {
        case .call(let call):
            run(call, lane: DemoRunner.lane) { [unowned self] answer in
                if answer == nil { day.refused(call) }
            }
        case .clock(let reading):
            guard let event = EventName("demo:clock") else { return }
            let data = "{\"day\":\"\(reading.day)\",\"time\":\"\(reading.time)\",\"isOpen\":\(reading.isOpen)}"
            let request = PublishRequest(topic: shop, event: event, data: Array(data.utf8), id: nil)
            store.publish(request, id: nil, payer: nil) { _ in }
        }
    }

    /// Calls a command as a service; the answer is `nil` when it was refused.
    ///
    /// A command that this node lacks is not called, and the shop continues without it.
    private func run(_ call: DemoCall, lane: UInt64? = nil, _ completion: @escaping (JSON.Value?) -> Void) {
        let caller = CommandCaller(.service("demo"))
        let arguments = call.arguments.map { TextArgument(name: $0.key, value: Array($0.value.utf8)) }
        guard let command = catalogue.command(named: call.command),
            let bound = try? ArgumentBinder.bind(command, body: nil, path: arguments, caller: caller)
        else { return completion(nil) }
        inFlight += 1
        runner.run(command, bound, caller: caller, operation: nil, lane: lane) { [unowned self] outcome in
            inFlight -= 1
            guard case .answer(let answer) = outcome else { return completion(nil) }
            completion((try? JSON(parsing: answer.json, limits: json))?.root)
        }
    }

    // MARK: Looks at the shop

    /// Reads the guests' actions: tracks they added, chairs they booked.
    private func look() {
        run(DemoCall(command: "dj", arguments: ["shopId": DemoCast.shop])) { [unowned self] answer in
            guard let queue = answer?["queue"], queue.kind == .array else { return }
            day.see(tracks: queue.members.compactMap { $0["trackId"]?.string })
        }
        link.call(RedisCall("HGETALL", keys.domain(shop, facet: "bookings", member: nil))) { [unowned self] result in
            guard case .success(let value) = result, let fields = value.elements else { return }
            var seen: Set<String> = []
            for index in stride(from: 0, to: fields.count - 1, by: 2) {
                guard let id = fields[index].bytes.map({ String(decoding: $0, as: UTF8.self) }),
                    let text = fields[index + 1].bytes, let booking = try? JSON(parsing: text, limits: json).root,
                    let user = booking["userId"]?.string,
                    let status = booking["status"]?.string.flatMap({ DemoBookingStatus(rawValue: $0) })
                else { continue }
                seen.insert(id)
                if strangers.contains(id) { day.see(booking: id, user: user, status: status) }
            }
            strangers = seen
        }
    }

    /// A number that the link's callback can increment before its owner is initialised.
    private final class Count {
        var value = 0
    }
}
