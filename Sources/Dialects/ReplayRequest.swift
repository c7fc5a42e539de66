public import Core

/// What a client wants of a topic's log by the clock, before it joins: the newest events since a time.
public struct ReplayRequest: Hashable, Sendable {
    /// Milliseconds since 1970: events that were published then or later.
    public let sinceMs: Int
    /// How many events at most, 1 to ``eventsMax``.
    public let limit: Int

    /// The most events of one replay; as the server of the clients that ask for it.
    public static let eventsMax = 25
    /// The latest time that scripts read as a number: 2^53 - 1.
    public static let sinceMsMax = (1 << 53) - 1

    /// Takes what a client asks for; a limit beyond its range counts as the nearest within.
    public init(sinceMs: Int, limit: Int = ReplayRequest.eventsMax) {
        self.sinceMs = min(max(sinceMs, 0), ReplayRequest.sinceMsMax)
        self.limit = min(max(limit, 1), ReplayRequest.eventsMax)
    }
}

/// What was read for a ``ReplayRequest``.
public struct Replay: Equatable, Sendable {
    /// The position of the newest event; `nil` when the topic has none.
    public var position: Position?
    /// Oldest first.
    public var events: [ChannelMessage]

    /// Makes an answer.
    public init(position: Position?, events: [ChannelMessage]) {
        self.position = position
        self.events = events
    }
}
