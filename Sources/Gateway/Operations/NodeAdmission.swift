import Core
import Reactors
import Rights
import Synchronization
import Transport

/// Who may hold how many connections of this node: total, per address, unauthenticated, and new ones per second.
///
/// The one lock outside the mailbox besides the log's: taken once per accepted and once per ended connection, never
/// for a message. Thread: any.
final class NodeAdmission: Admission {
    private struct State {
        var open = 0
        var unauthenticated = 0
        var byAddress: [[UInt8]: Int] = [:]
        var unauthenticatedByAddress: [[UInt8]: Int] = [:]
        var rates: KeyedBuckets<[UInt8]>
        var refused = 0
        var isDraining = false

        mutating func leaveUnauthenticated(_ key: [UInt8]) {
            unauthenticated -= 1
            guard let held = unauthenticatedByAddress[key] else { return }
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

    func admit(_ address: Address) -> Bool {
        let key = address.limitKey
        let nowMs = Clock.monotonicMs()
        return state.withLock { state in
            let held = state.byAddress[key] ?? 0
            let unproven = state.unauthenticatedByAddress[key] ?? 0
            guard !state.isDraining, state.open < limits.connectionsMax, held < limits.connectionsPerAddressMax,
                state.unauthenticated < limits.unauthenticatedMax, unproven < limits.unauthenticatedPerAddressMax,
                key.isEmpty || state.rates.take(key, nowMs: nowMs)
            else {
                state.refused += 1
                return false
            }
            state.open += 1
            state.unauthenticated += 1
            state.byAddress[key] = held + 1
            state.unauthenticatedByAddress[key] = unproven + 1
            return true
        }
    }

    func established(_ address: Address) {
        let key = address.limitKey
        state.withLock { $0.leaveUnauthenticated(key) }
    }

    func release(_ address: Address, wasEstablished: Bool) {
        let key = address.limitKey
        state.withLock { state in
            state.open -= 1
            if !wasEstablished { state.leaveUnauthenticated(key) }
            guard let held = state.byAddress[key] else { return }
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
