internal import Connections
internal import Core
internal import Reactors

/// Receives all channels of a thread from one server, or from the master that Sentinels name.
///
/// Thread: the reactor's.
final class ServerBus: BusSubscriber, SubscriberLinkOwner {
    private unowned let owner: any BusSubscriberOwner
    private let directory: PrimaryDirectory
    private var link: SubscriberLink?

    init(_ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner) throws(Errno) {
        self.owner = owner
        directory =
            setup.topology.directory(setup.target) { [unowned owner] in owner.hint($0) }
            ?? PrimaryDirectory(fixed: setup.target.url)
        link = try SubscriberLink(
            setup.context, setup.target, directory, name: setup.name + "-subscriber", owner: self,
            statistics: owner.linkMade("subscriber", to: nil))
        if let inbox { _ = link?.want(inbox) }
    }

    // MARK: BusSubscriber

    func want(_ channel: [UInt8]) -> Bool { link?.want(channel) ?? false }

    func unwant(_ channel: [UInt8]) { link?.unwant(channel) }

    func flush() { link?.flush() }

    func report(of server: ServerID) -> LinkReport {
        link?.facts.map { .up(runID: $0.runID) } ?? .down(link?.lastFailure)
    }

    func reconnect(_ server: ServerID, _ failure: RedisFailure) { link?.reconnect(failure) }

    func follow(_ placement: Placement) {
        if case .servers(let map) = placement { directory.take(map) }
    }

    func stop() { link?.stop() }

    // MARK: SubscriberLinkOwner

    func channelLive(_ channel: [UInt8]) { owner.channelLive(channel) }

    func channelMessage(_ channel: [UInt8], _ payload: [UInt8]) { owner.channelMessage(channel, payload) }

    func channelsLost(_ failure: RedisFailure) { owner.allChannelsLost(failure) }
}

@available(*, unavailable)
extension ServerBus: Sendable {}
