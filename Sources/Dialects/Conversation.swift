public import Core

/// One connection in one client protocol, as a pure state machine: what comes goes in, steps come out.
///
/// The session core speaks only ``ClientRequest`` and ``ServerMessage`` and never sees a dialect's syntax. A conversation
/// may speak first, answer by itself, and keep its own heartbeat. What it must say again in an answer (a Phoenix
/// `join_ref`, a Socket.IO acknowledgement number) it packs into the request's ``Reference``, which everyone else hands
/// back unread; so nothing stays here for a request that is never answered. Events do not come by here: they are
/// written once for all sessions by the ``EventEncoder`` of their door.
///
/// Every message of the client is paid for by its sender: a conversation that answers one by itself still counts, since
/// the session counts messages, not requests. Thread: the shard's; time is told in monotonic milliseconds.
public protocol Conversation {
    /// Milliseconds at which ``deadlineReached(_:_:)`` is wanted; `Int.max` for never.
    var deadlineMs: Int { get }

    /// The connection is open, and nothing was said yet.
    mutating func began(nowMs: Int, _ steps: inout [ConversationStep])

    /// One whole message came.
    mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [ConversationStep])

    /// A door is open; `user` is whose token opened it, `nil` for a client that is nobody yet, or no person.
    mutating func opened(_ door: Door, by user: [UInt8]?, _ steps: inout [ConversationStep])

    /// A door is open, for conversations that need not know whose it is.
    mutating func opened(_ door: Door, _ steps: inout [ConversationStep])

    /// A door stays closed.
    mutating func refused(_ door: Door, _ refusal: Refusal, _ steps: inout [ConversationStep])

    /// The gateway tells something through a door; `ref` is that of the request it answers, `nil` on everything
    /// unasked for. Never an event.
    mutating func told(_ message: ServerMessage, at door: Door, ref: Reference?, _ steps: inout [ConversationStep])

    /// The events that a ``SubscribeRequest/replay`` asked for, oldest first; `position` is that of the newest event of
    /// then, behind which the topic is joined next.
    mutating func replayed(
        _ events: [ChannelMessage], of topic: Topic, upTo position: Position, at door: Door, ref: Reference?)

    /// The deadline has passed.
    mutating func deadlineReached(nowMs: Int, _ steps: inout [ConversationStep])

    /// Which of the dialect's ``Dialect/encoders`` writes the events of a door.
    func encoder(of door: Door) -> Int

    /// Whether each event with a position needs a ``mark(_:_:)``, or is this client's own.
    var marksEvents: Bool { get }

    /// What stands for this client alone before an event that all share, in the same bytes: where its topics stand then.
    ///
    /// `nil` for nothing.
    mutating func mark(_ topic: Topic, _ position: Position) -> WireUnit?

    /// What this client is sent in place of what the encoder writes of an event, which `units` gives.
    ///
    /// `nil` where the client is sent the same as all. Asked where ``marksEvents`` and there is no mark.
    mutating func own(
        _ topic: Topic, _ position: Position, at door: Door, _ units: () -> [WireUnit]
    ) -> [WireUnit]?

    /// Which operation a command with this reference is, so that its retry changes nothing; `nil`: none can be told.
    func operation(of ref: Reference) -> OperationName?
}

extension Conversation {
    /// A conversation without a clock.
    public var deadlineMs: Int { Int.max }

    /// Nothing is said before the client speaks; the connection's credentials have the only door.
    public mutating func began(nowMs: Int, _ steps: inout [ConversationStep]) {
        steps.append(.open(.main, token: nil))
    }

    /// Whose it is makes no difference.
    public mutating func opened(_ door: Door, by user: [UInt8]?, _ steps: inout [ConversationStep]) {
        opened(door, &steps)
    }

    /// Nothing is said of it.
    public mutating func opened(_ door: Door, _ steps: inout [ConversationStep]) {}

    /// The credentials were judged when the connection was opened; one that is refused later ends it.
    public mutating func refused(_ door: Door, _ refusal: Refusal, _ steps: inout [ConversationStep]) {
        steps.append(.close(.unauthorized))
    }

    /// A conversation that asks for no replay is told of none.
    public mutating func replayed(
        _ events: [ChannelMessage], of topic: Topic, upTo position: Position, at door: Door, ref: Reference?
    ) {}

    /// A conversation without a clock does nothing.
    public mutating func deadlineReached(nowMs: Int, _ steps: inout [ConversationStep]) {}

    /// The only encoder.
    public func encoder(of door: Door) -> Int { 0 }

    /// Events speak for themselves.
    public var marksEvents: Bool { false }

    /// Events speak for themselves.
    public mutating func mark(_ topic: Topic, _ position: Position) -> WireUnit? { nil }

    /// The same as all.
    public mutating func own(
        _ topic: Topic, _ position: Position, at door: Door, _ units: () -> [WireUnit]
    ) -> [WireUnit]? { nil }

    /// No operation can be told.
    public func operation(of ref: Reference) -> OperationName? { nil }
}
