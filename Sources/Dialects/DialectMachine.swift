public import Core

/// One connection in one client protocol, as a pure state machine: messages are its input, steps its output.
///
/// The session core speaks only ``ClientRequest`` and ``ServerMessage`` and never sees a dialect's syntax. A machine may
/// speak first, answer by itself, and keep its own heartbeat. An answer may have to repeat values (a Phoenix
/// `join_ref`, a Socket.IO acknowledgement number). The machine packs them into the request's ``Reference``, which all
/// other code returns unread. So it stores nothing for a request that is never answered. Events bypass it: the
/// ``EventEncoder`` of a session writes each event once for all sessions. Only a dialect that adds something of a
/// client's own implements ``EventDecorating`` as well.
///
/// Every message of the client counts against its sender's budget, also one that the machine answers by itself: the
/// session counts messages, not requests. Thread: the shard's; times are monotonic milliseconds.
public protocol DialectMachine: EventDecorating {
    /// The time in milliseconds at which ``deadlineReached(_:_:)`` is to be called; `Int.max` for never.
    var deadlineMs: Int { get }

    /// The connection is open, and neither side has sent anything yet.
    mutating func began(nowMs: Int, _ steps: inout [DialectStep])

    /// The client sent one whole message.
    mutating func received(
        _ message: [UInt8], as kind: MessageKind, nowMs: Int, _ steps: inout [DialectStep])

    /// A session is open.
    ///
    /// `user` is the user of the token that opened it; `nil` for an anonymous client, or one that is no person.
    mutating func opened(_ sessionID: SessionID, by user: [UInt8]?, _ steps: inout [DialectStep])

    /// A session was refused.
    mutating func refused(_ sessionID: SessionID, _ refusal: Refusal, _ steps: inout [DialectStep])

    /// The gateway sends a message through a session.
    ///
    /// `ref` is the reference of the request that it answers; `nil` on everything unsolicited. Never an event.
    mutating func send(_ message: ServerMessage, at sessionID: SessionID, ref: Reference?, _ steps: inout [DialectStep])

    /// The deadline has passed.
    mutating func deadlineReached(nowMs: Int, _ steps: inout [DialectStep])

    /// The index in ``Dialect/encoders`` of the encoder that writes the events of a session.
    func encoder(of sessionID: SessionID) -> Int
}

extension DialectMachine {
    /// A machine without a clock.
    public var deadlineMs: Int { Int.max }

    /// The machine sends nothing before the client does; the connection's credentials open the only session.
    public mutating func began(nowMs: Int, _ steps: inout [DialectStep]) {
        steps.append(.open(.main, token: nil))
    }

    /// Sends nothing.
    public mutating func opened(_ sessionID: SessionID, by user: [UInt8]?, _ steps: inout [DialectStep]) {}

    /// The credentials were checked when the connection was opened; a later refusal ends the connection.
    public mutating func refused(_ sessionID: SessionID, _ refusal: Refusal, _ steps: inout [DialectStep]) {
        steps.append(.close(.unauthorized))
    }

    /// A machine without a clock does nothing.
    public mutating func deadlineReached(nowMs: Int, _ steps: inout [DialectStep]) {}

    /// The only encoder.
    public func encoder(of sessionID: SessionID) -> Int { 0 }
}
