import Reactors

/// Whether this node may be sent clients: earned by delivery, not assumed (design section 8).
///
/// Thread: any.
final class Health: Sendable {
    private struct State {
        var isDraining = false
        /// Threads that could not start; for good.
        var failed: [Condition] = []
        /// Why delivery is not proven, by part; empty when it is.
        var delivery = [Condition(.node, .starting)]
        var lacksDescriptors = false
        /// When the link that waits longest was proven.
        var provenMs: Int?
        var isShortOfMemory = false
        /// Whether delivery is proven for a part of what there is, and the rest is known to fail.
        var isPartlyProven = false

        /// What is wrong but for delivery.
        var others: [Condition] {
            var conditions: [Condition] = []
            if isDraining { conditions.append(Condition(.node, .draining)) }
            conditions += failed
            if lacksDescriptors { conditions.append(Condition(.node, .descriptors)) }
            if isShortOfMemory { conditions.append(Condition(.node, .memory)) }
            return conditions
        }
    }

    private let state = Guarded(State())
    /// Whether a part is enough (`--ready-partial`).
    private let isPartialEnough: Bool

    init(isPartialEnough: Bool = false) {
        self.isPartialEnough = isPartialEnough
    }

    /// What the broker knows of delivery: which parts are not proven, when the one that waits longest was, and whether
    /// those that are proven may be used alone.
    func delivery(_ conditions: [Condition], provenMs: Int?, isPartlyProven: Bool = false) {
        state.withLock { state in
            state.delivery = conditions
            state.provenMs = provenMs
            state.isPartlyProven = isPartlyProven
        }
    }

    /// A thread could not start.
    func failed(_ part: Condition.Part, _ reason: NotReadyReason) {
        state.withLock { $0.failed.append(Condition(part, reason)) }
    }

    /// Whether hardly any descriptors are left; true when this is news.
    func lacksDescriptors(_ isTrue: Bool) -> Bool {
        state.withLock { state in
            defer { state.lacksDescriptors = isTrue }
            return state.lacksDescriptors != isTrue
        }
    }

    /// The node takes no more clients.
    func drain() {
        state.withLock { $0.isDraining = true }
    }

    /// Memory is short, or is no longer.
    func memoryIsShort(_ isShort: Bool) {
        state.withLock { $0.isShortOfMemory = isShort }
    }

    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// All that is wrong, what matters most first; empty when nothing is.
    ///
    /// A loop that has not ended a tick for seconds while it had work is told by the caller.
    var conditions: [Condition] {
        state.withLock { state in
            let others = state.others
            let first = others.prefix { $0.reason != .descriptors && $0.reason != .memory }
            return first + state.delivery + others.dropFirst(first.count)
        }
    }

    /// Whether the node may be sent clients: nothing is wrong, or a part of delivery alone and the rest is enough.
    var isReady: Bool {
        state.withLock { state in
            state.others.isEmpty && (state.delivery.isEmpty || isPartialEnough && state.isPartlyProven)
        }
    }

    /// Whether events arrive by all links, or by as many as are enough.
    var isDeliveryProven: Bool {
        state.withLock { $0.delivery.isEmpty || isPartialEnough && $0.isPartlyProven }
    }

    /// `nil` when the node is ready; otherwise the first reason why it is not.
    var notReadyBecause: String? { isReady ? nil : conditions.first?.reason.label }

    /// Milliseconds since the link that waits longest was proven; `nil` while one never was.
    func probeAgeMs(nowMs: Int) -> Int? {
        state.withLock { state in state.provenMs.map { max(nowMs - $0, 0) } }
    }
}
