internal import Connections
import Core
public import Reactors

/// Channels by pattern from the server of one key: of a cluster the master of its slot, as placements say.
///
/// One server sends all its subscribers the messages of all channels in the same order; two masters of a cluster do
/// not. Thread: the reactor's.
public final class HomePatterns {
    private let setup: LinkSetup
    private let wish: KeyEvents.Wish
    private let slot: Int
    private unowned let owner: any PatternLinkOwner
    /// The directory for the only server; `nil` where placements name the servers.
    private let directory: PrimaryDirectory?
    /// The master that the link leads to; `nil` for the only server.
    private var home: SlotMap.Master?
    private var link: PatternLink?

    /// Subscribes at the only server; on a cluster ``follow(_:)`` makes the link.
    public init(
        _ setup: LinkSetup, _ wish: KeyEvents.Wish, key: [UInt8], owner: any PatternLinkOwner,
        asking: @escaping (ServerHint) -> Void
    ) throws(Errno) {
        self.setup = setup
        self.wish = wish
        self.owner = owner
        slot = HashSlot.of(key)
        directory = setup.topology.directory(setup.target, asking: asking)
        if let directory { link = try make(setup.target, directory) }
    }

    private func make(_ target: RedisTarget, _ directory: PrimaryDirectory) throws(Errno) -> PatternLink {
        try PatternLink(
            setup.context, target, directory, name: setup.name, patterns: wish.patterns, channels: wish.channels,
            pingMs: wish.pingMs, pongMs: wish.pongMs, owner: owner)
    }

    /// Takes a placement; a link to another server than the key's ends.
    public func follow(_ placement: Placement) {
        switch placement {
        case .servers(let map): directory?.take(map)
        case .slots(let map):
            guard let master = map[slot], master.id != home?.id || master.address != home?.address else { return }
            home = master
            if let link {
                // The owner learns that messages may be missing before the new link is live.
                let wasLive = link.isLive
                link.stop()
                if wasLive { owner.patternsLost(RedisFailure(.moved)) }
            }
            link = try? make(setup.target.at(master.address), setup.target.directory(master.address))
        }
    }

    /// Whether everything is subscribed.
    public var isLive: Bool { link?.isLive == true }

    /// The last failure of the link; `nil` when there was none.
    public var lastFailure: RedisFailure? { link?.lastFailure }

    /// Ends the link.
    public func stop() { link?.stop() }
}

@available(*, unavailable)
extension HomePatterns: Sendable {}
