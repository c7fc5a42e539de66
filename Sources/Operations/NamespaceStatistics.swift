public import Core
public import Reactors

/// Counters of one shard by namespace.
///
/// There is one for each configured namespace, so no client can add one. Thread: written by the shard's, readable by any.
public final class NamespaceStatistics: Sendable {
    /// The counters of one namespace.
    public final class Counts: Sendable {
        /// Events that this shard published and Redis stored.
        public let published = Tally()
        /// Events that came for topics with members.
        public let events = Tally()
        /// Events handed to members.
        public let deliveries = Tally()

        init() {}
    }

    /// The namespaces in order.
    let names: [String]
    private let byName: [ArraySlice<UInt8>: Counts]
    /// The counters of topics whose namespace is not configured; none should come.
    private let others = Counts()

    /// Zero counts for each of the namespaces.
    init(_ names: [String]) {
        self.names = names.sorted()
        byName = Dictionary(names.map { (Array($0.utf8)[...], Counts()) }) { first, _ in first }
    }

    /// The counters of a topic's namespace.
    public func counts(of topic: Topic) -> Counts { byName[topic.namespace] ?? others }

    /// The counters of a namespace; `nil` for one that is not configured.
    func counts(named name: String) -> Counts? { byName[Array(name.utf8)[...]] }
}
