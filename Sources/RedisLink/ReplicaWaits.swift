internal import Connections
public import Reactors

/// Confirms that replicas have stored a write on any master, with one ``ReplicaWait`` for each.
///
/// Thread: the reactor's.
public final class ReplicaWaits {
    /// The requirements for a confirmation.
    public struct Rules {
        /// The number of replicas that must have stored it, at least 1.
        public let replicas: Int
        /// The time that they have for it, milliseconds.
        public let waitMs: Int

        /// Makes rules.
        public init(replicas: Int, waitMs: Int) {
            self.replicas = replicas
            self.waitMs = waitMs
        }
    }

    private let setup: LinkSetup
    private let rules: Rules
    private let links: ServerLinks<ReplicaWait>

    /// Makes the links; `asking` receives their reasons to ask for the placement, which ``follow(_:)`` takes.
    public init(_ setup: LinkSetup, rules: Rules, asking: @escaping (ServerHint) -> Void) throws(Errno) {
        self.setup = setup
        self.rules = rules
        links = ServerLinks(setup.target, asking: asking)
        try links.begin(make)
    }

    private func make(
        _ server: ServerID, _ target: RedisTarget, _ directory: PrimaryDirectory
    ) throws(Errno) -> ReplicaWait {
        try ReplicaWait(
            setup.context, target, directory, name: setup.name, replicas: rules.replicas, waitMs: rules.waitMs)
    }

    /// Takes a placement: every master gets a link, and other nodes lose theirs.
    public func follow(_ placement: Placement) {
        links.follow(placement, make: make) { $0.stop() }
    }

    /// The number of links.
    public var linkCount: Int { links.all.count }

    /// Waits until the replicas have stored everything that was written to a process before now.
    ///
    /// The completion runs once, later or at once. It refuses for a process without a link, since nothing confirms its
    /// writes.
    public func confirm(_ runID: [UInt8]?, _ completion: @escaping ReplicaWait.Completion) {
        guard let runID, let wait = links.all.first(where: { $0.runID == runID }) else {
            return completion(ReplicaWait.missing(rules.replicas))
        }
        wait.confirm(runID, completion)
    }

    /// Asks the server of a link again for its history.
    public func recheck(_ server: ServerID) { links[server]?.recheck() }

    /// Ends every link; waiting calls are refused, since nothing confirms their writes.
    public func stop() {
        for wait in links.all { wait.stop() }
        links.removeAll()
    }
}

@available(*, unavailable)
extension ReplicaWaits: Sendable {}
