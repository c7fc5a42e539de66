internal import Core
internal import Reactors

/// Receives the channels of a whole cluster, and follows its map.
///
/// Topics' channels are sharded. The inbox is not, and one master is enough for it. Thread: the reactor's.
final class ClusterBus: BusSubscriber, ClusterSubscriberOwner {
    /// Receives the messages of the inbox; a loss of its link affects no topic.
    private final class Letterbox: SubscriberLinkOwner {
        private unowned let owner: any BusSubscriberOwner

        init(_ owner: any BusSubscriberOwner) { self.owner = owner }

        func channelLive(_ channel: [UInt8]) {}
        func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }
        func channelsLost(_ failure: RedisFailure) {}
    }

    private unowned let owner: any BusSubscriberOwner
    private let setup: LinkSetup
    private let inbox: [UInt8]
    private let letterbox: Letterbox
    private var watch: (any PlacementWatch)?
    private var subscriber: ClusterSubscriber?
    /// The link for the inbox, and the master that it leads to.
    private var plain: (node: ServerID, link: SubscriberLink)?

    init(_ setup: LinkSetup, _ plan: BusPlan, owner: any BusSubscriberOwner) throws(Errno) {
        self.owner = owner
        self.setup = setup
        inbox = plan.inbox
        letterbox = Letterbox(owner)
        subscriber = try ClusterSubscriber(
            setup.context, setup.target, name: setup.name + "-subscriber", owner: self
        ) { [unowned owner] in owner.linkMade("subscriber", to: $0.address) }
        watch = try setup.topology.watch(setup, plan.sentinels) { [unowned self] in watched($0) }
    }

    private func watched(_ update: PlacementUpdate) {
        owner.watched(update)
        guard case .placed(.slots(let map)) = update else { return }
        subscriber?.use(map)
        usePlain(map)
    }

    /// Subscribes to the inbox at the master of its slot, at which senders publish.
    private func usePlain(_ map: SlotMap) {
        guard let master = map[HashSlot.of(inbox)], plain?.node != master.id else { return }
        plain?.link.stop()
        plain = nil
        let (target, address) = (setup.target, master.address)
        guard
            let link = try? SubscriberLink(
                setup.context, target.at(address), target.directory(address), name: setup.name + "-inbox",
                owner: letterbox, statistics: owner.linkMade("inbox", to: address))
        else { return }
        _ = link.want(inbox)
        plain = (master.id, link)
    }

    // MARK: BusSubscriber

    var servers: [BusServer] {
        guard case .slots(let map)? = watch?.placement else { return [] }
        return map.masters.map { BusServer(id: $0.id, address: $0.address, slots: map.slots(of: $0.id)) }
    }

    var placement: Placement? { watch?.placement }

    func want(_ channel: [UInt8]) -> Bool { subscriber?.want(channel) ?? false }

    func unwant(_ channel: [UInt8]) { subscriber?.unwant(channel) }

    func flush() { subscriber?.flush() }

    func report(of server: ServerID) -> LinkReport {
        subscriber?.facts(server).map { .up(runID: $0.runID) } ?? .down(subscriber?.lastFailure(server))
    }

    func reconnect(_ server: ServerID, _ failure: RedisFailure) { subscriber?.reconnect(server, failure) }

    func hint(_ hint: ServerHint) { watch?.hint(hint) }

    /// Does nothing: a master that has lost its slots refuses publishes on their channels.
    func followed(by follower: Int, generation: Int) {}

    func work() {}

    // MARK: ClusterSubscriberOwner

    func channelLive(_ channel: [UInt8]) { owner.channelLive(channel) }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }

    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) { owner.channelsLost(channels, failure) }

    func masterChanged(_ node: ServerID) { owner.linkChanged(node) }

    func mapIsStale(_ address: ClusterAddress?) { hint(address.map { .redirected($0) } ?? .suspicion) }
}

@available(*, unavailable)
extension ClusterBus: Sendable {}
