public import Connections
import Core
public import Reactors

/// Asks the nodes of a cluster for the map of slots, when something suggests a change, and at intervals.
///
/// It asks one node at a time: first the one that a hint names, then masters in random order, then the nodes in the
/// URL, and last those that were useless in the last round. A map older than the known one is rejected, unless no node
/// sends another map for long. Thread: the reactor's.
public final class ClusterWatch: PlacementWatch {
    private let context: ConnectionContext
    private let target: RedisTarget
    private let name: String
    private let tell: (PlacementUpdate) -> Void
    private var plan: RefreshPlan
    private var timer: ReactorTimer?
    private var order = AskingOrder()
    private var link: CallLink?
    /// The reason why the present node cannot be asked, once it is known.
    private var failure: RedisFailure?
    private var refusals = 0
    /// The present map.
    public private(set) var map = SlotMap.empty
    /// The same as a placement.
    public var placement: Placement { .slots(map) }

    /// The shortest time between two rounds, milliseconds: many links may notice one failure.
    private static let pauseMs = 1_000
    /// The longest time between two rounds, milliseconds; up to a quarter less, so that gateways do not ask together.
    private static let intervalMs = 15_000
    /// The number of rounds in a row after which an older map is accepted: the cluster may have been created anew.
    private static let refusalsMax = 10

    /// Makes a watch that asks at once; `tell` runs after each round with a result to report.
    public init(
        _ context: ConnectionContext, _ target: RedisTarget, name: String,
        tell: @escaping (PlacementUpdate) -> Void
    ) throws(Errno) {
        self.context = context
        self.target = target
        self.name = name
        self.tell = tell
        plan = RefreshPlan(
            pauseMs: ClusterWatch.pauseMs, intervalMs: ClusterWatch.intervalMs, nowMs: context.reactor.nowMs)
        timer = try ReactorTimer(context.reactor) { [unowned self] in timerFired() }
        timer?.set(atMs: context.reactor.nowMs)
    }

    /// Ends the watch.
    public func stop() {
        link?.stop()
        link = nil
        timer?.invalidate()
        timer = nil
    }

    /// Takes a hint that the map may be out of date; a redirected link names a node that knows more.
    public func hint(_ hint: ServerHint) {
        var address: ClusterAddress?
        if case .redirected(let known) = hint { address = known }
        plan.hint(address, nowMs: context.reactor.nowMs)
        guard order.asked == nil else { return }
        timer?.set(atMs: min(plan.nextMs, context.reactor.nowMs))
    }

    private func timerFired() {
        let nowMs = context.reactor.nowMs
        if order.asked != nil { return askNext(failure ?? link?.lastFailure ?? RedisFailure(.timedOut)) }
        // The round is over; between rounds no connection is kept.
        link?.stop()
        link = nil
        guard plan.nextMs <= nowMs else {
            timer?.set(atMs: plan.nextMs)
            return
        }
        order.begin(plan.round(map.masters.map(\.address).shuffled() + target.url.seeds.shuffled()))
        plan.began(nowMs: nowMs)
        askNext(RedisFailure(.disconnected))
    }

    private func askNext(_ failure: RedisFailure) {
        self.failure = nil
        link?.stop()
        link = nil
        guard let address = order.next() else {
            tell(.unreachable(failure))
            return ended(isSettled: false)
        }
        timer?.set(atMs: context.reactor.nowMs + target.connectMs)
        var target = target.at(address)
        target.role = nil
        target.layout = nil
        do {
            link = try CallLink(
                context, target, target.directory(address), name: name, registry: .none,
                onDown: { [weak self] in self?.notReached(address, $0) },
                onReady: { [unowned self] _ in question() })
        } catch {
            failed(RedisFailure(.disconnected))
        }
    }

    /// A dead master refuses at once, and the round does not wait for it while other nodes can be asked.
    private func notReached(_ address: ClusterAddress, _ failure: RedisFailure) {
        if order.dialFailed(address) { failed(failure) }
    }

    private func question() {
        link?.call(RedisCall("CLUSTER", Array("NODES".utf8))) { [weak self] result in
            guard let self, let address = order.asked else { return }
            switch result {
            case .success(let value):
                guard let text = value.bytes,
                    let nodes = ClusterNode.list(
                        text, nodesMax: target.clusterNodesMax, prefersNames: target.tls != nil)
                else { return failed(RedisFailure(.protocolViolation, detail: "CLUSTER NODES was not understood")) }
                answered(nodes, at: address)
            case .failure(let failure): failed(failure)
            }
        }
    }

    private func failed(_ failure: RedisFailure) {
        // The link is still reporting the failure, so it is stopped later.
        self.failure = failure
        timer?.set(atMs: context.reactor.nowMs)
    }

    private func answered(_ nodes: [ClusterNode], at address: ClusterAddress) {
        let new = SlotMap(nodes, askedAt: address.host, generation: map.generation + 1)
        guard !new.isOlder(than: map) || refusals >= ClusterWatch.refusalsMax else {
            if order.isLast { refusals += 1 }
            return failed(RedisFailure(.protocolViolation, detail: "the node tells an older map"))
        }
        refusals = 0
        if !new.says(sameAs: map) {
            map = new
            tell(.placed(.slots(new)))
        }
        let open = nodes.flatMap(\.openSlots)
        if !new.uncovered.isEmpty || !open.isEmpty { tell(.damaged(uncovered: new.uncovered, open: open)) }
        order.answered()
        ended(isSettled: new.uncovered.isEmpty && !nodes.contains { $0.hasFailed && !$0.slots.isEmpty })
    }

    private func ended(isSettled: Bool) {
        let nowMs = context.reactor.nowMs
        plan.ended(isSettled: isSettled, nowMs: nowMs, jitter: Double.random(in: 0..<1))
        timer?.set(atMs: nowMs)
    }
}

@available(*, unavailable)
extension ClusterWatch: Sendable {}
