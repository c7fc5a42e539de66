import Reactors

/// Whether this node may be sent clients: earned by delivery, not assumed (design section 8).
///
/// Thread: any.
final class Health: Sendable {
    private struct State {
        /// Why delivery is not proven; `nil` when it is.
        var reason: String? = "starting"
        var isDraining = false
        var isShortOfMemory = false
        var provenMs = 0
    }

    private let state = Guarded(State())

    /// A probe came back.
    func deliveryProven(atMs nowMs: Int) {
        state.withLock { state in
            state.reason = nil
            state.provenMs = nowMs
        }
    }

    /// Delivery is not proven any more.
    func deliveryLost(_ reason: String) {
        state.withLock { $0.reason = reason }
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

    /// `nil` when the node is ready; otherwise why it is not.
    ///
    /// A loop that has not ended a tick for over a second while it had work is told by the caller.
    var notReadyBecause: String? {
        state.withLock { $0.isDraining ? "draining" : $0.reason ?? ($0.isShortOfMemory ? "memory" : nil) }
    }

    /// Milliseconds since a probe last came back; `nil` before the first.
    func probeAgeMs(nowMs: Int) -> Int? {
        state.withLock { $0.provenMs == 0 ? nil : nowMs - $0.provenMs }
    }
}
