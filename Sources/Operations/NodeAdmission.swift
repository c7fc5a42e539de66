public import Connections
public import Core
import Reactors
import Rights

/// Limits the connections of a node: total, per address, unauthenticated, and new ones per second.
///
/// Peers on a unix socket have no address and count in the totals only.
///
/// Its lock (D8) is taken once for each accepted and each ended connection, never for a message. Thread: any.
public final class NodeAdmission: Admission {
    private struct State {
        var open = 0
        var unauthenticated = 0
        var byAddress: [IPAddress: Int] = [:]
        var unauthenticatedByAddress: [IPAddress: Int] = [:]
        var rates: KeyedBuckets<IPAddress>
        var refused = 0
        var isShortOfMemory = false

        mutating func add(_ key: IPAddress, isEstablished: Bool) {
            byAddress[key, default: 0] += 1
            if !isEstablished { unauthenticatedByAddress[key, default: 0] += 1 }
        }

        mutating func remove(_ key: IPAddress, isEstablished: Bool) {
            State.decrement(&byAddress, key)
            if !isEstablished { State.decrement(&unauthenticatedByAddress, key) }
        }

        static func decrement(_ counts: inout [IPAddress: Int], _ key: IPAddress) {
            guard let count = counts[key] else { return }
            counts[key] = count > 1 ? count - 1 : nil
        }
    }

    private let limits: Limits
    private let isShared: @Sendable (IPAddress) -> Bool
    private let state: Guarded<State>

    /// `isShared` selects the addresses that stand for many clients, trusted proxies.
    ///
    /// They have no limit of their own; the clients behind them have.
    public init(limits: Limits, isShared: @escaping @Sendable (IPAddress) -> Bool) {
        self.limits = limits
        self.isShared = isShared
        let perSecond = limits.connectsPerAddressPerSecond
        state = Guarded(
            State(
                rates: KeyedBuckets(
                    RateLimit(perSecond: perSecond, burst: perSecond * 4), capacity: limits.rateBucketsMax)))
    }

    /// The key by which an address is counted; `nil` for one that is not counted.
    private func key(_ address: IPAddress?) -> IPAddress? {
        guard let address, !isShared(address) else { return nil }
        return address.limitKey
    }

    /// Takes a place for a new connection, unless memory is short or a limit is reached.
    public func admit(_ address: IPAddress?) -> Bool {
        let key = key(address)
        let nowMs = Clock.monotonicMs()
        return state.withLock { state in
            guard !state.isShortOfMemory, state.open < limits.connectionsMax,
                state.unauthenticated < limits.unauthenticatedMax,
                key.map({ hasPlace($0, isEstablished: false, &state, nowMs) }) ?? true
            else {
                state.refused += 1
                return false
            }
            state.open += 1
            state.unauthenticated += 1
            if let key { state.add(key, isEstablished: false) }
            return true
        }
    }

    private func hasPlace(_ key: IPAddress, isEstablished: Bool, _ state: inout State, _ nowMs: Int) -> Bool {
        (state.byAddress[key] ?? 0) < limits.connectionsPerAddressMax
            && (isEstablished || (state.unauthenticatedByAddress[key] ?? 0) < limits.unauthenticatedPerAddressMax)
            && state.rates.take(key, nowMs: nowMs)
    }

    /// Counts a proxied connection for the client's own address; without a place there, the counts stay.
    public func move(from proxy: IPAddress?, to client: IPAddress?, wasEstablished: Bool) -> Bool {
        let (old, new) = (key(proxy), key(client))
        let nowMs = Clock.monotonicMs()
        return state.withLock { state in
            guard new.map({ hasPlace($0, isEstablished: wasEstablished, &state, nowMs) }) ?? true else {
                state.refused += 1
                return false
            }
            if let old { state.remove(old, isEstablished: wasEstablished) }
            if let new { state.add(new, isEstablished: wasEstablished) }
            return true
        }
    }

    /// Takes the connection out of the counts of unauthenticated ones.
    public func established(_ address: IPAddress?) {
        let key = key(address)
        state.withLock { state in
            state.unauthenticated -= 1
            if let key { State.decrement(&state.unauthenticatedByAddress, key) }
        }
    }

    /// Gives a place back; one that `wasEstablished` is no longer among the unauthenticated.
    public func release(_ address: IPAddress?, wasEstablished: Bool) {
        let key = key(address)
        state.withLock { state in
            state.open -= 1
            if !wasEstablished { state.unauthenticated -= 1 }
            if let key { state.remove(key, isEstablished: wasEstablished) }
        }
    }

    /// Refuses all clients while memory is short.
    func memoryIsShort(_ isShort: Bool) {
        state.withLock { $0.isShortOfMemory = isShort }
    }

    /// Connections open, of them unauthenticated, and refused so far.
    public var figures: (open: Int, unauthenticated: Int, refused: Int) {
        state.withLock { ($0.open, $0.unauthenticated, $0.refused) }
    }
}
