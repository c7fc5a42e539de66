public import Core

/// The events of a topic's log that a client wants by the clock, before it joins: the newest since a time.
public struct ReplayRequest: Hashable, Sendable {
    /// Milliseconds since 1970: events that were published then or later.
    public let sinceMs: Int
    /// The most events to return, 1 to ``eventsMax``.
    public let limit: Int

    /// The most events of one replay; the same as on the server whose clients use replays.
    public static let eventsMax = 25
    /// The latest time that scripts read as a number: 2^53 - 1.
    public static let sinceMsMax = (1 << 53) - 1

    /// Makes a request; a limit outside its range becomes the nearest within.
    public init(sinceMs: Int, limit: Int = ReplayRequest.eventsMax) {
        self.sinceMs = min(max(sinceMs, 0), ReplayRequest.sinceMsMax)
        self.limit = min(max(limit, 1), ReplayRequest.eventsMax)
    }
}

/// The events that were read for a ``ReplayRequest``.
public struct Replay: Equatable, Sendable {
    /// The position of the newest event; `nil` when the topic has none.
    public var position: Position?
    /// The events, oldest first.
    public var events: [ChannelMessage]

    /// Makes an answer.
    public init(position: Position?, events: [ChannelMessage]) {
        self.position = position
        self.events = events
    }
}
