public import Core

/// How a dialect writes what goes to many clients at once; stateless, so that the bytes are shared.
///
/// Sessions with the same encoder and the same framing are sent the same bytes, made once for each event. All members
/// may be called on any thread.
public protocol EventEncoder: Sendable {
    /// A short constant word, unique among all encoders, also a metric label, e.g. `native`.
    var name: String { get }

    /// Writes an event of a topic; several units belong together and are sent without anything between them.
    ///
    /// None where the dialect cannot say the event.
    func event(_ topic: Topic, _ message: ChannelMessage) -> [WireUnit]

    /// Writes that events of a topic are missing before whatever follows; at least one unit: no dialect is silent.
    func gap(_ topic: Topic, _ position: Position?, _ reason: GapReason) -> [WireUnit]

    /// Writes who is here, for ``ServerMessage/presence(topic:members:)``; `nil` where the dialect cannot say it.
    func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]?

    /// Writes who came and who left; none where the dialect cannot say it.
    func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit]
}

extension EventEncoder {
    /// A dialect without presence says nothing.
    public func presence(_ topic: Topic, _ members: [PresenceMember]) -> [UInt8]? { nil }

    /// A dialect without presence says nothing.
    public func presence(_ topic: Topic, _ change: PresenceChange) -> [WireUnit] { [] }
}
