/// The readiness of a descriptor, or the readiness that its owner waits for.
public struct Readiness: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Bytes can be read, a connection accepted, or the stream has ended.
    public static let read = Readiness(rawValue: 1)
    /// Bytes can be written, or a connect has ended.
    public static let write = Readiness(rawValue: 2)
    /// The peer or the kernel ended the connection in both directions (EPOLLHUP, EPOLLERR).
    public static let failed = Readiness(rawValue: 4)
}

/// An object that a reactor drives: a listener, a connection, or a bare timer.
///
/// Thread: the reactor's, for all calls, each in its phase. A source never frees itself in a call; it asks
/// ``Reactor/remove(_:)``, and is released in the last phase of the tick.
public protocol EventSource: AnyObject {
    /// Phase 3: the descriptor is ready.
    func ready(_ readiness: Readiness)
    /// Phase 4: the deadline set with ``Reactor/setDeadline(_:at:)`` has passed.
    func deadlineReached()
    /// Phase 5: the source was marked dirty in this tick.
    func flush()
    /// Phase 6: the source asked for a turn behind the flushes, with ``Reactor/markLate(_:)``.
    func late()
    /// Phase 7: the source was removed; it closes the descriptor and releases all it holds.
    func released()
}

extension EventSource {
    /// Does nothing: most sources have no work that takes long.
    public func late() {}
}

/// Identifies a source by slot and generation, without a reference to it.
///
/// Events, timers and messages for a removed source are recognised and dropped, even when its slot has a new owner.
public struct EventToken: Hashable, Sendable {
    /// The slot in the low 32 bits and the generation in the high ones, as epoll stores it.
    public let raw: UInt64

    init(slot: Int, generation: UInt32) {
        raw = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: slot))
    }

    init(raw: UInt64) {
        self.raw = raw
    }

    var slot: Int { Int(UInt32(truncatingIfNeeded: raw)) }
    var generation: UInt32 { UInt32(truncatingIfNeeded: raw >> 32) }
}
