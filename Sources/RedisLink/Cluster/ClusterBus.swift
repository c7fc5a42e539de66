internal import Core
internal import Reactors

/// Receives the channels of a thread from a whole cluster.
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
    private let inbox: [UInt8]?
    private let letterbox: Letterbox
    private var subscriber: ClusterSubscriber?
    /// The link for the inbox, and the master that it leads to.
    private var plain: (node: ServerID, link: SubscriberLink)?

    init(_ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner) throws(Errno) {
        self.owner = owner
        self.setup = setup
        self.inbox = inbox
        letterbox = Letterbox(owner)
        subscriber = try ClusterSubscriber(
            setup.context, setup.target, name: setup.name + "-subscriber", owner: self
        ) { [unowned owner] in owner.linkMade("subscriber", to: $0.address) }
    }

    /// Subscribes to the inbox at the master of its slot, at which senders publish.
    private func usePlain(_ map: SlotMap) {
        guard let inbox, let master = map[HashSlot.of(inbox)], plain?.node != master.id else { return }
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

    func want(_ channel: [UInt8]) -> Bool { subscriber?.want(channel) ?? false }

    func unwant(_ channel: [UInt8]) { subscriber?.unwant(channel) }

    func flush() { subscriber?.flush() }

    func report(of server: ServerID) -> LinkReport {
        subscriber?.facts(server).map { .up(runID: $0.runID) } ?? .down(subscriber?.lastFailure(server))
    }

    func reconnect(_ server: ServerID, _ failure: RedisFailure) { subscriber?.reconnect(server, failure) }

    func follow(_ placement: Placement) {
        guard case .slots(let map) = placement else { return }
        subscriber?.use(map)
        usePlain(map)
    }

    func stop() {
        subscriber?.stop()
        plain?.link.stop()
    }

    // MARK: ClusterSubscriberOwner

    func channelLive(_ channel: [UInt8]) { owner.channelLive(channel) }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }

    func channelsLost(_ channels: [[UInt8]], _ failure: RedisFailure) { owner.channelsLost(channels, failure) }

    func masterChanged(_ node: ServerID) { owner.linkChanged(node) }

    func mapIsStale(_ address: ClusterAddress?) { owner.hint(address.map { .redirected($0) } ?? .suspicion) }
}

@available(*, unavailable)
extension ClusterBus: Sendable {}
