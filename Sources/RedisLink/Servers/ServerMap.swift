/// Which servers a process talks to now, and what was learnt of them.
///
/// Immutable; made by one thread and handed to the others (``ServerBoard``).
public struct ServerMap: Equatable, Sendable {
    /// A server that takes writes.
    public struct Master: Equatable, Sendable {
        /// Where it is.
        public let endpoint: RedisURL.Endpoint
        /// The history that it wrote when it was looked at (``ServerFacts/history``); empty where nobody looks, for one
        /// fixed server.
        public let history: [UInt8]
        /// Fences of older masters whose every shown event this one is proven to have; the newest first.
        public let admitted: [[UInt8]]
    }

    /// Grows by one with each change; 0 at first.
    public let generation: Int
    /// The masters; empty while none is known.
    public let masters: [Master]
    /// Why none is known, or why the last look found none; `nil` when all is well.
    public let trouble: RedisFailure?

    /// One server, where it is for ever.
    init(fixed endpoint: RedisURL.Endpoint) {
        self.init(
            generation: 0, masters: [Master(endpoint: endpoint, history: [], admitted: [])], trouble: nil)
    }

    init(generation: Int, masters: [Master], trouble: RedisFailure?) {
        self.generation = generation
        self.masters = masters
        self.trouble = trouble
    }
}
