import Reactors
import RedisLink

/// Figures of the masters of a cluster, by address.
///
/// Thread: any. What is kept of an address stays while it is a master's, and longer as long as there is room.
final class MasterFigures: Sendable {
    /// How often a shard's link found that a master writes another history than the one before it, by what became of
    /// epochs.
    struct Changes: Equatable {
        /// It was proven to have the whole of the one before.
        var kept = 0
        /// It was not.
        var reset = 0
    }

    /// A master of now.
    struct Master: Equatable {
        /// `host:port`.
        let address: String
        /// Slots that it has.
        let slots: Int
        /// Whether every link to it is proven.
        let isProven: Bool
    }

    private struct State {
        var changes = Changes()
        var masters: [Master] = []
        /// By address and name of the link.
        var links: [String: [String: RedisStatistics]] = [:]
    }

    private let state = Guarded(State())
    private let addressesMax: Int

    /// Figures of at most so many addresses; beyond, those that are no master's are forgotten.
    init(addressesMax: Int) {
        self.addressesMax = addressesMax
    }

    /// A shard's link found another history.
    func historyChanged(keepsEpochs: Bool) {
        state.withLock { state in
            if keepsEpochs { state.changes.kept += 1 } else { state.changes.reset += 1 }
        }
    }

    /// All of them so far.
    var changes: Changes { state.withLock { $0.changes } }

    /// What a link to an address counts in: the same for each that follows it, so that a failover leaves nothing behind.
    func statistics(of address: String, link: String) -> RedisStatistics {
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

    /// The masters of now, and what is proven of them.
    func use(_ masters: [Master]) {
        state.withLock { $0.masters = masters }
    }

    /// The masters of now.
    var masters: [Master] { state.withLock { $0.masters } }

    /// The figures of every link, by address in order.
    var links: [(address: String, links: [RedisStatistics])] {
        state.withLock { state in
            state.links.sorted { $0.key < $1.key }.map { ($0.key, Array($0.value.values)) }
        }
    }
}
