public import Core

/// The bytes of one client that accompany or replace an event that many clients share.
public enum EventDecoration: Equatable, Sendable {
    /// A unit before the event, in the same bytes.
    case before(WireUnit)
    /// Units for this client in place of the event.
    case instead([WireUnit])
}

/// The part that a dialect machine has in the delivery of events; most have none, and implement nothing of it.
///
/// A machine decorates events where its client has to receive more than the bytes that all clients share, as the
/// positions of all its topics. Thread: the shard's.
public protocol EventDecorating {
    /// Whether events with a position are decorated now; it changes only when the machine takes an input.
    var isDecorating: Bool { get }

    /// The client's own bytes for an event; `nil` where it receives the same as all others.
    ///
    /// `units` returns the units that all clients share. Called only while ``isDecorating`` is true.
    mutating func decorate(
        _ topic: Topic, _ position: Position, at sessionID: SessionID, _ units: () -> [WireUnit]
    ) -> EventDecoration?
}

extension EventDecorating {
    /// `false`: all clients receive the same.
    public var isDecorating: Bool { false }

    /// `nil`: all clients receive the same.
    public mutating func decorate(
        _ topic: Topic, _ position: Position, at sessionID: SessionID, _ units: () -> [WireUnit]
    ) -> EventDecoration? { nil }
}
