/// What becomes of a call that a node of a cluster did not run: where it goes next, after which pause, and when it is given
/// up.
///
/// Only replies that say that nothing has run lead to another attempt; every other failure is the caller's. A value of facts:
/// time is given, monotonic milliseconds.
public struct ClusterAttempts: Equatable, Sendable {
    /// What to do with the call.
    public enum Step: Equatable, Sendable {
        /// Tell the caller.
        case finish
        /// Send it to the slot's master, as the map says then, after a pause in milliseconds.
        case again(afterMs: Int)
        /// Send it there now, with `ASKING` before it; the map stays.
        case ask(ClusterAddress)
    }

    /// What the reply says of the topology.
    public enum Hint: Equatable, Sendable {
        /// Nothing.
        case none
        /// The slot belongs to whoever is at the address.
        case moved(slot: Int, ClusterAddress)
        /// What is known may be out of date.
        case stale
    }

    /// When the caller is told that it took too long.
    public let deadlineMs: Int
    private var redirects = 0
    private var waits = 0
    private var demotions = 0

    /// The most redirections of one call: more are two nodes that send it to and fro.
    public static let redirectsMax = 5

    /// Begins with the first attempt of a call.
    public init(deadlineMs: Int) {
        self.deadlineMs = deadlineMs
    }

    /// Takes the failure that a node answered; `isKnown` tells whether the map has a master at an address.
    public mutating func failed(
        _ failure: RedisFailure, isKnown: (ClusterAddress) -> Bool, nowMs: Int
    ) -> (Step, Hint) {
        let redirection = Redirection(failure.detail.utf8)
        switch (failure.kind, redirection) {
        case (.moved, let redirection?) where !isKnown(redirection.address):
            // A master that is new: the call waits for the map that tells of it.
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
            // A slot that stays open for long was left open by somebody, or its keys are large.
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

    /// There is no connection to the slot's master, or nobody is known to have the slot: nothing was sent.
    public mutating func unsent(nowMs: Int) -> Step {
        waits += 1
        return again(afterMs: min(10 << min(waits - 1, 4), 100), nowMs)
    }

    private func again(afterMs: Int, _ nowMs: Int) -> Step {
        nowMs + afterMs < deadlineMs ? .again(afterMs: afterMs) : .finish
    }

    /// Whether a command inside a script met it, so that what stands before it in the script has been done.
    private static func leftAScript(_ failure: RedisFailure) -> Bool {
        let text = failure.detail.utf8
        let mark = Array("script: ".utf8)
        return text.count >= mark.count
            && text.indices.contains { text[$0...].starts(with: mark) }
    }

    private static let redirectPausesMs = [0, 10, 50, 100, 100]
}
