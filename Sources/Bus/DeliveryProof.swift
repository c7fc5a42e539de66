import Core
import Operations
import RedisLink

/// Proof that published events arrive from every server, with ``DeliveryProbes`` for each.
///
/// Each master of a cluster has probes of its own, on a channel of one of its slots. A failing master is thus known by
/// name while the others continue. Without a cluster there is one server without a name. Pure: time is a parameter,
/// monotonic milliseconds.
struct DeliveryProof {
    /// The action to take now.
    enum Step: Equatable {
        /// These shards publish a number at a server.
        case probe(ServerID, channel: [UInt8], number: Int, shards: [Int])
        /// Dial the links of these parts to a server again.
        case reconnect(ServerID, [Condition.Part], NotReadyReason)
    }

    private struct Server {
        let id: ServerID
        /// `host:port` of a master; empty for the only server.
        let name: String
        var slots: Int
        var channel: [UInt8]
        var probes: DeliveryProbes
        /// The shards whose subscription has been live.
        var haveBeenLive: Set<Int> = []
    }

    private let probes: DeliveryProbes
    private let channel: (_ slot: Int?) -> [UInt8]
    /// By name in order.
    private var servers: [Server] = []
    /// The reason why no server is known, or why some keys have none.
    private(set) var trouble: Condition?
    private var partial = PartialReadiness()

    /// `channel` names the channel for probes in a slot; `nil` stands for the only server.
    init(shards: Int, intervalMs: Int, timeoutMs: Int, channel: @escaping (_ slot: Int?) -> [UInt8]) {
        probes = DeliveryProbes(shards: shards, intervalMs: intervalMs, timeoutMs: timeoutMs)
        self.channel = channel
    }

    // MARK: Servers

    /// The channels for probes, by server.
    var channels: [ServerID: [UInt8]] {
        Dictionary(servers.map { ($0.id, $0.channel) }) { first, _ in first }
    }

    /// Takes the present servers: the proof of new ones begins.
    mutating func use(_ present: [BusServer]) {
        servers.removeAll { server in !present.contains { $0.id == server.id } }
        for server in present { prove(server) }
        servers.sort { $0.name < $1.name }
    }

    /// Begins the proof of a server, on a channel of one of its slots; does nothing while its channel is still its own.
    private mutating func prove(_ server: BusServer) {
        let count = server.slots.reduce(0) { $0 + $1.count }
        if let place = index(server.id) {
            servers[place].slots = count
            let slot = HashSlot.of(servers[place].channel)
            if server.slots.isEmpty || server.slots.contains(where: { $0.contains(slot) }) { return }
            servers.remove(at: place)
        }
        servers.append(
            Server(
                id: server.id, name: server.address?.description ?? "", slots: count,
                channel: channel(server.slots.first?.lowerBound), probes: probes))
    }

    /// The server whose probes a channel carries; `nil` for any other channel.
    func server(of channel: [UInt8]) -> ServerID? { index(channel: channel).map { servers[$0].id } }

    private func index(_ id: ServerID) -> Int? { servers.firstIndex { $0.id == id } }

    private func index(channel: [UInt8]) -> Int? { servers.firstIndex { $0.channel == channel } }

    /// Takes a result of the watch of the servers.
    mutating func watched(_ update: PlacementUpdate) {
        switch update {
        case .placed, .damaged(uncovered: [], _): trouble = nil
        case .damaged(let uncovered, _):
            trouble = Condition(.node, .slotsUncovered, detail: DeliveryProof.text(uncovered))
        case .unreachable(let failure):
            // The last known map remains in use.
            if servers.isEmpty { trouble = Condition(.node, .redis(failure.kind), detail: failure.detail) }
        case .sentinels: break
        }
    }

    /// Slots for the log, the first eight ranges.
    static func text(_ ranges: [ClosedRange<Int>]) -> String {
        ranges.prefix(8).map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    // MARK: Links

    /// Takes a shard's report on one of its links to a server, failed dials included.
    mutating func link(_ link: BusLink, _ shard: Int, _ id: ServerID, _ report: LinkReport, nowMs: Int) {
        guard let place = index(id) else { return }
        switch link {
        case .calls: servers[place].probes.calls(shard, report, nowMs: nowMs)
        case .subscriber: servers[place].probes.subscriber(shard, report, nowMs: nowMs)
        }
    }

    /// A shard's channel for probes of a server is live; returns whether it was live before.
    mutating func subscriberLive(_ shard: Int, _ id: ServerID) -> Bool {
        guard let place = index(id) else { return false }
        servers[place].probes.subscriberLive(shard)
        return !servers[place].haveBeenLive.insert(shard).inserted
    }

    /// A number came back; `false` when it was not awaited.
    mutating func returned(_ number: Int, of publisher: Int, at shard: Int, _ id: ServerID, nowMs: Int) -> Bool {
        guard let place = index(id) else { return false }
        return servers[place].probes.returned(number, of: publisher, at: shard, nowMs: nowMs)
    }

    /// A shard could not write a number, which will not return.
    mutating func refused(_ number: Int, shard: Int, _ id: ServerID, _ failure: RedisFailure, nowMs: Int) {
        guard let place = index(id) else { return }
        servers[place].probes.refused(number, shard: shard, failure, nowMs: nowMs)
    }

    /// A shard's mailbox was full.
    mutating func undelivered(shard: Int, nowMs: Int) {
        for place in servers.indices { servers[place].probes.undelivered(shard: shard, nowMs: nowMs) }
    }

    /// Called often; the time before `resumedMs`, when the process did not run, does not count against links.
    mutating func due(_ id: ServerID, nowMs: Int, resumedMs: Int) -> [Step] {
        guard let place = index(id) else { return [] }
        let channel = servers[place].channel
        return servers[place].probes.due(nowMs: nowMs, resumedMs: resumedMs).map { step in
            switch step {
            case .send(let number, let shards): .probe(id, channel: channel, number: number, shards: shards)
            case .reconnect(let parts, let reason): .reconnect(id, parts, reason)
            }
        }
    }

    // MARK: State

    /// Every part that is not proven, of every server.
    var unproven: [Condition] { named(\.unproven) }

    /// The reasons for which delivery is not proven.
    var conditions: [Condition] { named(\.conditions) }

    private func named(_ list: (DeliveryProbes) -> [Condition]) -> [Condition] {
        if servers.isEmpty { return [trouble ?? Condition(.node, .connecting)] }
        return (trouble.map { [$0] } ?? [])
            + servers.flatMap { server in
                let conditions = list(server.probes)
                guard !server.name.isEmpty else { return conditions }
                return conditions.map { condition in
                    Condition(
                        .master(condition.part, at: server.name), condition.reason, detail: condition.detail)
                }
            }
    }

    /// The masters of a cluster, and whether each is proven.
    var masters: [MasterFigures.Master] {
        servers.filter { !$0.name.isEmpty }.map { server in
            MasterFigures.Master(
                address: server.name, slots: server.slots, isProven: server.probes.conditions.isEmpty)
        }
    }

    /// Whether some masters are proven and the others are known to fail.
    mutating func isPartlyProven() -> Bool {
        partial.judge(proven: masters.count(where: \.isProven), conditions)
    }

    /// When a number last returned by the link that waits longest; `nil` while one link never returned any.
    var provenMs: Int? {
        guard !servers.isEmpty else { return nil }
        var oldest = Int.max
        for server in servers {
            guard let provenMs = server.probes.provenMs else { return nil }
            oldest = min(oldest, provenMs)
        }
        return oldest
    }
}
