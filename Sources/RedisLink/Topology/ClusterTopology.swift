internal import Reactors

/// A cluster: every master has its slots, and links of its own.
struct ClusterTopology: RedisTopology {
    var isSharded: Bool { true }

    func directory(_ target: RedisTarget, asking: @escaping (ServerHint) -> Void) -> PrimaryDirectory? { nil }

    func watch(
        _ setup: LinkSetup, _ statistics: SentinelStatistics, tell: @escaping (PlacementUpdate) -> Void
    ) throws(Errno) -> (any PlacementWatch)? {
        try ClusterWatch(setup.context, setup.target, name: setup.name + "-watch", tell: tell)
    }

    func calls(
        _ setup: LinkSetup, registry: ScriptRegistry, observer: any LinkObserver
    ) throws(Errno) -> any RedisLinks {
        try ClusterLink(setup.context, setup.target, name: setup.name, registry: registry, observer: observer)
    }

    func bus(
        _ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner
    ) throws(Errno) -> any BusSubscriber {
        try ClusterBus(setup, inbox: inbox, owner: owner)
    }
}
