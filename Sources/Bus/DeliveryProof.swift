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
        /// Subscribe to a channel for probes.
        case want([UInt8])
        /// Give up a channel for probes.
        case unwant([UInt8])
        /// The shards report the state of their links to a server again.
        case reportLinks(ServerID)
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
        /// The last report on the link that receives.
        var report = LinkReport.down(nil)
        var hasBeenLive = false
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

    /// The ids of the servers.
    var ids: [ServerID] { servers.map(\.id) }

    /// Takes the present servers: the proof of new ones begins.
    mutating func use(_ present: [BusServer]) -> [Step] {
        var steps: [Step] = []
        for server in servers where !present.contains(where: { $0.id == server.id }) {
            steps.append(.unwant(server.channel))
        }
        servers.removeAll { server in !present.contains { $0.id == server.id } }
        for server in present { steps += prove(server) }
        servers.sort { $0.name < $1.name }
        return steps
    }

    /// Begins the proof of a server, on a channel of one of its slots; does nothing while its channel is still its own.
    private mutating func prove(_ server: BusServer) -> [Step] {
        var steps: [Step] = []
        let count = server.slots.reduce(0) { $0 + $1.count }
        if let place = index(server.id) {
            servers[place].slots = count
            let old = servers[place].channel
            let slot = HashSlot.of(old)
            if server.slots.isEmpty || server.slots.contains(where: { $0.contains(slot) }) { return [] }
            servers.remove(at: place)
            // The current master of the slot may be proven by the same channel already.
            if index(channel: old) == nil { steps.append(.unwant(old)) }
        }
        let made = Server(
            id: server.id, name: server.address?.description ?? "", slots: count,
            channel: channel(server.slots.first?.lowerBound), probes: probes)
        servers.append(made)
        return steps + [.want(made.channel), .reportLinks(made.id)]
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

    /// Takes the state of the link that receives from a server, failed dials included.
    mutating func subscriber(_ id: ServerID, _ report: LinkReport, nowMs: Int) {
        guard let place = index(id), servers[place].report != report else { return }
        servers[place].report = report
        servers[place].probes.subscriber(report, nowMs: nowMs)
    }

    /// A server's channel for probes is live; returns whether it was live before.
    mutating func subscriberLive(_ id: ServerID) -> Bool {
        guard let place = index(id) else { return false }
        servers[place].probes.subscriberLive()
        defer { servers[place].hasBeenLive = true }
        return servers[place].hasBeenLive
    }

    /// Takes a shard's report on its link to a server.
    mutating func shard(_ shard: Int, _ id: ServerID, _ report: LinkReport, nowMs: Int) {
        guard let place = index(id) else { return }
        servers[place].probes.shard(shard, report, nowMs: nowMs)
    }

    /// A number came back; `false` when it was not awaited.
    mutating func returned(_ number: Int, shard: Int, _ id: ServerID, nowMs: Int) -> Bool {
        guard let place = index(id) else { return false }
        return servers[place].probes.returned(number, shard: shard, nowMs: nowMs)
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
                        .master(condition.part.name + "@" + server.name), condition.reason, detail: condition.detail)
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
