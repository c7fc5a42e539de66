internal import Connections
internal import Core
internal import Reactors

/// Receives all channels from one server, or from the master that Sentinels name.
///
/// When the master changes, the links that publish leave the old one first (``LeaveOrder``). Thread: the reactor's.
final class ServerBus: BusSubscriber, SubscriberLinkOwner {
    private unowned let owner: any BusSubscriberOwner
    private let reactor: Reactor
    private let directory: PrimaryDirectory
    private var watch: (any PlacementWatch)?
    private var link: SubscriberLink?
    private var order: LeaveOrder

    /// Maximum time for which the link waits for those that publish, milliseconds.
    private static let patienceMs = 250

    init(_ setup: LinkSetup, _ plan: BusPlan, owner: any BusSubscriberOwner) throws(Errno) {
        self.owner = owner
        reactor = setup.context.reactor
        order = LeaveOrder(followers: plan.followers, patienceMs: ServerBus.patienceMs)
        let asked = Asked()
        directory =
            setup.topology.directory(setup.target) { asked.bus?.hint($0) } ?? PrimaryDirectory(fixed: setup.target.url)
        asked.bus = self
        watch = try setup.topology.watch(setup, plan.sentinels) { [unowned self] in watched($0) }
        link = try SubscriberLink(
            setup.context, setup.target, directory, name: setup.name + "-subscriber", owner: self,
            statistics: owner.linkMade("subscriber", to: nil))
        _ = link?.want(plan.inbox)
    }

    /// Lets the directory be made before this object.
    private final class Asked {
        weak var bus: ServerBus?
    }

    private func watched(_ update: PlacementUpdate) {
        owner.watched(update)
        guard case .placed(.servers(let map)) = update else { return }
        if order.mayTake(map, after: directory.map, nowMs: reactor.nowMs) { directory.take(map) }
    }

    private func follow() {
        if case .servers(let map)? = watch?.placement { directory.take(map) }
    }

    // MARK: BusSubscriber

    var servers: [BusServer] { [BusServer(id: [], address: nil, slots: [])] }

    var placement: Placement? { watch?.placement }

    func want(_ channel: [UInt8]) -> Bool { link?.want(channel) ?? false }

    func unwant(_ channel: [UInt8]) { link?.unwant(channel) }

    func flush() { link?.flush() }

    func report(of server: ServerID) -> LinkReport {
        link?.facts.map { .up(runID: $0.runID) } ?? .down(link?.lastFailure)
    }

    func reconnect(_ server: ServerID, _ failure: RedisFailure) { link?.reconnect(failure) }

    func hint(_ hint: ServerHint) { watch?.hint(hint) }

    func followed(by follower: Int, generation: Int) {
        if order.followed(by: follower, generation: generation) { follow() }
    }

    func work() {
        if order.isOverdue(nowMs: reactor.nowMs) { follow() }
    }

    // MARK: SubscriberLinkOwner

    func channelLive(_ channel: [UInt8]) { owner.channelLive(channel) }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }

    func channelsLost(_ failure: RedisFailure) { owner.allChannelsLost(failure) }
}

@available(*, unavailable)
extension ServerBus: Sendable {}
