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
    }

    private let state = Guarded(State())

    /// What the broker knows of delivery: which parts are not proven, and when the one that waits longest was.
    func delivery(_ conditions: [Condition], provenMs: Int?) {
        state.withLock { state in
            state.delivery = conditions
            state.provenMs = provenMs
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

    /// All that keeps the node from being ready, what matters most first; empty when it is ready.
    ///
    /// A loop that has not ended a tick for seconds while it had work is told by the caller.
    var conditions: [Condition] {
        state.withLock { state in
            var conditions: [Condition] = []
            if state.isDraining { conditions.append(Condition(.node, .draining)) }
            conditions += state.failed
            conditions += state.delivery
            if state.lacksDescriptors { conditions.append(Condition(.node, .descriptors)) }
            if state.isShortOfMemory { conditions.append(Condition(.node, .memory)) }
            return conditions
        }
    }

    /// `nil` when the node is ready; otherwise the first reason why it is not.
    var notReadyBecause: String? { conditions.first?.reason.label }

    /// Milliseconds since the link that waits longest was proven; `nil` while one never was.
    func probeAgeMs(nowMs: Int) -> Int? {
        state.withLock { state in state.provenMs.map { max(nowMs - $0, 0) } }
    }
}
