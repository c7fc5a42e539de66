import Commands
import Configuration
import Connections
import Core
import Gateway
import Reactors
import RedisLink

/// The check of every master of a cluster.
extension Preflight {
    /// Reads the map, then asks each master by a link of its own; blocks this thread until all have answered or a
    /// deadline.
    static func cluster(_ parts: NodeParts, _ settings: GatewaySettings) -> Answers {
        let limits = settings.limits
        let survey = RightsSurvey(parts, settings)
        do {
            let reactor = try Reactor(wake: try Wake())
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
            let look = ClusterLook(parts, settings, context, survey)
            let timer = try ReactorTimer(reactor) { reactor.stop() }
            timer.set(atMs: reactor.nowMs + limits.redisConnectMs * 3 + limits.redisCallMs)
            try look.begin()
            reactor.run()
            return look.end()
        } catch {
            return Answers(findings: [Finding(.wrong, "cannot look at Redis: \(error)")])
        }
    }
}

/// The look of `switchboard check` at a cluster.
///
/// Thread: the caller's.
private final class ClusterLook {
    private let parts: NodeParts
    private let limits: Limits
    /// `--redis-wait`.
    private let wait: Int
    private let context: ConnectionContext
    private var watch: ClusterWatch?
    private let keys: Keys
    private var links: [[UInt8]: CallLink] = [:]
    private var map = SlotMap.empty
    private var found: [[UInt8]: [Preflight.Finding]] = [:]
    private var damage: [Preflight.Finding] = []
    private var failure = RedisFailure(.timedOut)
    private let survey: RightsSurvey
    private var answers: [ServerRights] = []
    /// The live processes, as the master that knows them answered.
    private var nodes: [Preflight.Finding] = []
    private var others: [NodeEntry] = []

    init(_ parts: NodeParts, _ settings: GatewaySettings, _ context: ConnectionContext, _ survey: RightsSurvey) {
        self.survey = survey
        keys = settings.keys
        wait = settings.redisWait
        self.parts = parts
        limits = settings.limits
        self.context = context
    }

    func begin() throws(Errno) {
        watch = try ClusterWatch(
            context, parts.redis, name: "switchboard-check"
        ) { [unowned self] update in
            switch update {
            case .placed(.slots(let map)) where self.map.masters.isEmpty: look(map)
            case .placed, .sentinels: break
            case .unreachable(let failure): self.failure = failure
            case .damaged(let uncovered, let open): tell(uncovered, open)
            }
        }
    }

    private func tell(_ uncovered: [ClosedRange<Int>], _ open: [Int]) {
        damage = []
        if let first = uncovered.first {
            let text = "no master has the slots \(first.lowerBound)-\(first.upperBound)"
            let more = uncovered.count > 1 ? " and \(uncovered.count - 1) further ranges" : ""
            damage.add(.wrong, text + more + ": mend it by redis-cli --cluster fix, or bring the master back")
        }
        if let first = open.first {
            damage.add(
                .doubtful,
                "slot \(first) is open: while it is moved, publishes on its topics wait; if nobody moves it, close it by"
                    + " redis-cli --cluster fix")
        }
    }

    private func look(_ map: SlotMap) {
        self.map = map
        var target = parts.redis
        target.layout?.marks = false
        for master in map.masters {
            let answered = Answered()
            let link = try? CallLink(
                context, target.at(master.address), target.directory(master.address), name: "switchboard-check",
                registry: parts.library.table.registry,
                onBrokenScript: { [unowned self] name, failure in
                    let text = parts.library.table[name]?.source.compileFault(failure.detail) ?? failure.detail
                    if !damage.contains(where: { $0.text == text }) { damage.add(.wrong, text) }
                },
                onReady: { answered.action($0) })
            guard let link else { continue }
            links[master.id] = link
            let knowsNodes = map[HashSlot.of(keys.nodes)] == master
            answered.action = { [unowned self] facts in
                if knowsNodes {
                    Preflight.ask(link, keys, boundMs: limits.clockMs) { [unowned self] in (others, nodes) = ($0, $1) }
                }
                // The link loads the operator's scripts first, so the answer arrives after each of them was tried.
                link.call(RedisCall("CONFIG", Array("GET".utf8), Array("cluster-require-full-coverage".utf8))) {
                    [unowned self] answer in
                    survey.ask(link, context, place: master.address.description) { [unowned self] in
                        answers += $0
                        judge(master, facts, answer)
                    }
                }
            }
        }
    }

    /// Lets a link be created before the action for its report.
    private final class Answered {
        var action: (ServerFacts) -> Void = { _ in }
    }

    private func judge(_ master: SlotMap.Master, _ facts: ServerFacts, _ answer: Result<RESPValue, RedisFailure>) {
        let count = map.slots(of: master.id).reduce(0) { $0 + $1.count }
        var findings = Preflight.judge(facts, as: "\(master.address), a master of \(count) slots")
        if wait > 0 {
            findings += Preflight.judge(facts, Preflight.ReplicaSettings(leastReplicas: 1), wait: wait)
        }
        if facts.connectedReplicas == 0 {
            findings.add(.doubtful, "\(master.address) has no replica: its slots are lost while it is away")
        }
        if case .success(let value) = answer, let config = ServerFacts.config(value),
            config[Array("cluster-require-full-coverage".utf8)]?.elementsEqual("yes".utf8) == true
        {
            findings.add(
                .doubtful,
                "\(master.address): cluster-require-full-coverage is yes: one lost master stops all; set it to no")
        }
        found[master.id] = findings
        if found.count == map.masters.count { context.reactor.stop() }
    }

    func end() -> Preflight.Answers {
        watch?.stop()
        survey.stop()
        let failures = links.compactMapValues(\.lastFailure)
        for link in links.values { link.stop() }
        guard !map.masters.isEmpty else {
            let text = "Redis at \(parts.redis.url) cannot be used: \(failure.metricLabel) \(failure.detail)"
            return Preflight.Answers(findings: [Preflight.Finding(.wrong, text)])
        }
        var findings = [Preflight.Finding(.good, "Redis Cluster of \(map.masters.count) masters")]
        findings += Preflight.layout(parts)
        for master in map.masters {
            let failure = failures[master.id].map { "\($0.metricLabel) \($0.detail)" } ?? "no answer"
            findings += found[master.id] ?? [Preflight.Finding(.wrong, "\(master.address) cannot be used: \(failure)")]
        }
        return Preflight.Answers(findings: findings + nodes + damage, servers: answers, others: others)
    }
}
