import Reactors
public import RedisLink

/// Figures of the masters of a cluster, by address.
///
/// Thread: any. The figures of an address are kept while it is a master's, and longer as long as there is room.
public final class MasterFigures: Sendable {
    /// Changes of a master's replication history that shards' links found, by their effect on epochs.
    struct Changes: Equatable {
        /// The new history was proven to contain the whole of the one before.
        var kept = 0
        /// It was not proven.
        var reset = 0
    }

    /// A current master.
    public struct Master: Equatable, Sendable {
        /// `host:port`.
        public let address: String
        /// Number of its slots.
        public let slots: Int
        /// Whether every link to it is proven.
        public let isProven: Bool

        /// A master at `host:port` that serves `slots` of the 16,384 slots.
        public init(address: String, slots: Int, isProven: Bool) {
            self.address = address
            self.slots = slots
            self.isProven = isProven
        }
    }

    private struct State {
        var changes = Changes()
        var masters: [Master] = []
        /// By address and name of the link.
        var links: [String: [String: RedisStatistics]] = [:]
    }

    private let state = Guarded(State())
    private let addressesMax: Int

    /// Keeps the figures of at most `addressesMax` addresses; beyond, those of former masters are dropped.
    init(addressesMax: Int) {
        self.addressesMax = addressesMax
    }

    /// A shard's link found another history.
    public func historyChanged(keepsEpochs: Bool) {
        state.withLock { state in
            if keepsEpochs { state.changes.kept += 1 } else { state.changes.reset += 1 }
        }
    }

    /// All changes so far.
    var changes: Changes { state.withLock { $0.changes } }

    /// The counters of a link to an address; links that replace each other share them, so that a failover leaves none
    /// behind.
    public func statistics(of address: String, link: String) -> RedisStatistics {
        state.withLock { state in
            if let known = state.links[address]?[link] { return known }
            if state.links[address] == nil, state.links.count >= addressesMax {
                let now = Set(state.masters.map(\.address))
                state.links = state.links.filter { now.contains($0.key) }
            }
            let made = RedisStatistics()
            state.links[address, default: [:]][link] = made
            return made
        }
    }

    /// Takes the current masters, and whether they are proven.
    public func use(_ masters: [Master]) {
        state.withLock { $0.masters = masters }
    }

    /// The current masters.
    var masters: [Master] { state.withLock { $0.masters } }

    /// The figures of every link, by address in order.
    var links: [(address: String, links: [RedisStatistics])] {
        state.withLock { state in
            state.links.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.values)) }
        }
    }
}
