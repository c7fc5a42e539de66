import Core
import Reactors
import Rights
import Synchronization
import Transport

/// Who may hold how many connections of this node: total, per address, unauthenticated, and new ones per second.
///
/// Peers on a unix socket have no address and count in the totals only.
///
/// The one lock outside the mailbox besides the log's: taken once per accepted and once per ended connection, never
/// for a message. Thread: any.
final class NodeAdmission: Admission {
    private struct State {
        var open = 0
        var unauthenticated = 0
        var byAddress: [IPAddress: Int] = [:]
        var unauthenticatedByAddress: [IPAddress: Int] = [:]
        var rates: KeyedBuckets<IPAddress>
        var refused = 0
        var isDraining = false

        /// Takes a place of one address and one of its new connections; false when either is used up.
        mutating func take(_ key: IPAddress, _ limits: Limits, nowMs: Int) -> Bool {
            let held = byAddress[key] ?? 0
            let unproven = unauthenticatedByAddress[key] ?? 0
            guard held < limits.connectionsPerAddressMax, unproven < limits.unauthenticatedPerAddressMax,
                rates.take(key, nowMs: nowMs)
            else { return false }
            byAddress[key] = held + 1
            unauthenticatedByAddress[key] = unproven + 1
            return true
        }

        mutating func leaveUnauthenticated(_ key: IPAddress?) {
            unauthenticated -= 1
            guard let key, let held = unauthenticatedByAddress[key] else { return }
            unauthenticatedByAddress[key] = held > 1 ? held - 1 : nil
        }
    }

    private let limits: Limits
    private let state: Mutex<State>

    init(limits: Limits) {
        self.limits = limits
        let perSecond = limits.connectsPerAddressPerSecond
        state = Mutex(
            State(rates: KeyedBuckets(RateLimit(perSecond: perSecond, burst: perSecond * 4), capacity: 65_536)))
    }

    func admit(_ address: IPAddress?) -> Bool {
        let key = address?.limitKey
        let nowMs = Clock.monotonicMs()
        return state.withLock { state in
            guard !state.isDraining, state.open < limits.connectionsMax,
                state.unauthenticated < limits.unauthenticatedMax,
                key.map({ state.take($0, limits, nowMs: nowMs) }) ?? true
            else {
                state.refused += 1
                return false
            }
            state.open += 1
            state.unauthenticated += 1
            return true
        }
    }

    func established(_ address: IPAddress?) {
        let key = address?.limitKey
        state.withLock { $0.leaveUnauthenticated(key) }
    }

    func release(_ address: IPAddress?, wasEstablished: Bool) {
        let key = address?.limitKey
        state.withLock { state in
            state.open -= 1
            if !wasEstablished { state.leaveUnauthenticated(key) }
            guard let key, let held = state.byAddress[key] else { return }
            state.byAddress[key] = held > 1 ? held - 1 : nil
        }
    }

    /// Admits nobody from now on.
    func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Connections open, of them unauthenticated, and refused so far.
    var figures: (open: Int, unauthenticated: Int, refused: Int) {
        state.withLock { ($0.open, $0.unauthenticated, $0.refused) }
    }
}
