internal import Reactors

/// One server at a constant address.
struct SingleTopology: RedisTopology {
    var isSharded: Bool { false }

    func directory(_ target: RedisTarget, asking: @escaping (ServerHint) -> Void) -> PrimaryDirectory? {
        PrimaryDirectory(fixed: target.url)
    }

    func watch(
        _ setup: LinkSetup, _ statistics: SentinelStatistics, tell: @escaping (PlacementUpdate) -> Void
    ) throws(Errno) -> (any PlacementWatch)? { nil }

    func calls(
        _ setup: LinkSetup, registry: ScriptRegistry, observer: any LinkObserver
    ) throws(Errno) -> any RedisLinks {
        try CallLink(setup, PrimaryDirectory(fixed: setup.target.url), registry, observer)
    }

    func bus(
        _ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner
    ) throws(Errno) -> any BusSubscriber {
        try ServerBus(setup, inbox: inbox, owner: owner)
    }
}
