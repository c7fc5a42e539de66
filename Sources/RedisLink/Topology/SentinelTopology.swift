internal import Reactors

/// A master that Sentinels name, and that a failover replaces.
struct SentinelTopology: RedisTopology {
    var isSharded: Bool { false }

    func directory(_ target: RedisTarget, asking: @escaping (ServerHint) -> Void) -> PrimaryDirectory? {
        PrimaryDirectory(asking: asking)
    }

    func watch(
        _ setup: LinkSetup, _ statistics: SentinelStatistics, tell: @escaping (PlacementUpdate) -> Void
    ) throws(Errno) -> (any PlacementWatch)? {
        try SentinelWatch(
            setup.context, setup.target, name: setup.name, statistics: statistics,
            onEvent: { tell(.sentinels($0)) }, onMap: { tell(.placed(.servers($0))) })
    }

    func calls(
        _ setup: LinkSetup, registry: ScriptRegistry, observer: any LinkObserver
    ) throws(Errno) -> any RedisLinks {
        try CallLink(setup, PrimaryDirectory { observer.hint($0) }, registry, observer)
    }

    func bus(
        _ setup: LinkSetup, inbox: [UInt8]?, owner: any BusSubscriberOwner
    ) throws(Errno) -> any BusSubscriber {
        try ServerBus(setup, inbox: inbox, owner: owner)
    }
}
