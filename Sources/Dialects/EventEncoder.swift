public import Core

/// The writer of a dialect's messages to many clients at once; stateless, so that clients share the bytes.
///
/// Sessions with the same encoder and the same framing receive the same bytes, made once for each event. All members
/// may be called on any thread.
public protocol EventEncoder: Sendable {
    /// A short constant word, unique among all encoders, also a metric label, e.g. `native`.
    var name: String { get }

    /// Writes an event of a topic; several units belong together and are sent without anything between them.
    ///
    /// Empty where the dialect cannot express the event.
    func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit]

    /// Writes that events of a topic are missing before the next message; at least one unit, in every dialect.
    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit]

    /// Writes the list of members for ``ServerMessage/presence(topic:members:)``; `nil` where the dialect has no such
    /// message.
    func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]?

    /// Writes the members that joined and left; empty where the dialect has no such message.
    func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit]
}

extension EventEncoder {
    /// `nil`: the dialect has no presence.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? { nil }

    /// Empty: the dialect has no presence.
    public func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] { [] }
}
