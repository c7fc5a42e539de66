/// The servers that a process uses now, and the known facts about them.
///
/// Immutable; one thread makes it and passes it to the others (``PrimaryDirectory``).
public struct ServerMap: Equatable, Sendable {
    /// A server that accepts writes.
    public struct Master: Equatable, Sendable {
        /// The address of the server.
        public let endpoint: RedisURL.Endpoint
        /// The history that it wrote when it was last asked (``ServerFacts/history``); empty for a single fixed server.
        public let history: [UInt8]
        /// Fences of older masters whose sent events this one is proven to have completely; the newest first.
        public let admitted: [[UInt8]]
    }

    /// The number of the map: 0 at first, and one more after each change.
    public let generation: Int
    /// The masters; empty while none is known.
    public let masters: [Master]
    /// The reason why none is known, or why the last question found none; `nil` without trouble.
    public let trouble: RedisFailure?

    /// Makes the map of one server at a constant address.
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
