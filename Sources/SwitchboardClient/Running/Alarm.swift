/// When the one timer of a client rings.
///
/// A device sleeps between two rings, so there are as few as possible: an idle connection has one for each ping.
struct Alarm: Sendable {
    /// How much too early the timer may be.
    ///
    /// Each message moves the next ping. A timer that is early by less is kept, so that messages in a row set none; one that is
    /// early by more is set anew, so that an answered ping leaves no ring behind. 5 s: less than `pongMs`.
    static let earlyMs: Int64 = 5_000

    /// When it rings, by the machine's clock; `nil` while there is nothing to wait for.
    private(set) var atMs: Int64?

    /// What has to be done with the timer.
    enum Order: Equatable {
        /// It is right as it is.
        case keep
        /// It is to ring then, and not before.
        case set(atMs: Int64)
        /// It is not to ring.
        case stop
    }

    /// The machine wants to be woken then; `nil`: by no timer.
    mutating func want(_ wakeMs: Int64?) -> Order {
        guard let wakeMs else {
            defer { atMs = nil }
            return atMs == nil ? .keep : .stop
        }
        if let atMs, atMs <= wakeMs, wakeMs - atMs < Alarm.earlyMs { return .keep }
        atMs = wakeMs
        return .set(atMs: wakeMs)
    }

    /// The timer that was set for then has rung.
    mutating func rang(_ setMs: Int64) {
        if atMs == setMs { atMs = nil }
    }
}
