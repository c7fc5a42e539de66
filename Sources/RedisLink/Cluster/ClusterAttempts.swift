/// The attempts of one call on a cluster: where the call is sent next, after which pause, and when it is given up.
///
/// Another attempt follows only a reply that proves that nothing has run; every other failure is reported to the
/// caller. A value without I/O: time is a parameter, monotonic milliseconds.
public struct ClusterAttempts: Equatable, Sendable {
    /// The next step of the call.
    public enum Step: Equatable, Sendable {
        /// Report the failure to the caller.
        case finish
        /// Send it to the slot's master as the map names it then, after a pause in milliseconds.
        case again(afterMs: Int)
        /// Send it to this address now, with `ASKING` before it; the map stays the same.
        case ask(ClusterAddress)
    }

    /// The conclusion about the topology that the reply allows.
    public enum Hint: Equatable, Sendable {
        /// Nothing.
        case none
        /// The slot belongs to the node at the address.
        case moved(slot: Int, ClusterAddress)
        /// The map may be out of date.
        case stale
    }

    /// The time at which the caller receives a timeout.
    public let deadlineMs: Int
    private var redirects = 0
    private var waits = 0
    private var demotions = 0

    /// The most redirections of one call: more mean that two nodes redirect to each other.
    public static let redirectsMax = 5

    /// Begins with the first attempt of a call.
    public init(deadlineMs: Int) {
        self.deadlineMs = deadlineMs
    }

    /// Judges the failure that a node answered; `isKnown` returns whether the map has a master at an address.
    public mutating func failed(
        _ failure: RedisFailure, isKnown: (ClusterAddress) -> Bool, nowMs: Int
    ) -> (Step, Hint) {
        let redirection = Redirection(failure.detail.utf8)
        switch (failure.kind, redirection) {
        case (.moved, let redirection?) where !isKnown(redirection.address):
            // The master is new: the call waits for a map that contains it.
            return (unsent(nowMs: nowMs), .moved(slot: redirection.slot, redirection.address))
        case (.moved, let redirection?) where redirection.kind == .moved:
            let hint = Hint.moved(slot: redirection.slot, redirection.address)
            redirects += 1
            guard redirects <= ClusterAttempts.redirectsMax else { return (.finish, hint) }
            return (again(afterMs: ClusterAttempts.redirectPausesMs[redirects - 1], nowMs), hint)
        case (.moved, let redirection?):
            redirects += 1
            return (redirects <= ClusterAttempts.redirectsMax ? .ask(redirection.address) : .finish, .none)
        case (.tryAgain, _):
            waits += 1
            // A slot that stays open for long was abandoned while it moved, or its keys are large.
            return (again(afterMs: min(10 << min(waits - 1, 3), 50), nowMs), waits > 20 ? .stale : .none)
        case (.clusterDown, _), (.loading, _), (.masterDown, _), (.busy, _), (.noReplicas, _):
            guard !ClusterAttempts.leftAScript(failure) else { return (.finish, .stale) }
            return (again(afterMs: 250, nowMs), .stale)
        case (.readOnly, _):
            demotions += 1
            return (demotions == 1 ? again(afterMs: 50, nowMs) : .finish, .stale)
        case (.disconnected, _), (.timedOut, _):
            return (.finish, .stale)
        default:
            return (.finish, .none)
        }
    }

    /// Judges a call that was not sent, because its slot has no known master or no connection to it.
    public mutating func unsent(nowMs: Int) -> Step {
        waits += 1
        return again(afterMs: min(10 << min(waits - 1, 4), 100), nowMs)
    }

    private func again(afterMs: Int, _ nowMs: Int) -> Step {
        nowMs + afterMs < deadlineMs ? .again(afterMs: afterMs) : .finish
    }

    /// Whether a command inside a script caused the failure, so that the script's earlier commands have run.
    private static func leftAScript(_ failure: RedisFailure) -> Bool {
        let text = failure.detail.utf8
        let mark = Array("script: ".utf8)
        return text.count >= mark.count
            && text.indices.contains { text[$0...].starts(with: mark) }
    }

    private static let redirectPausesMs = [0, 10, 50, 100, 100]
}
