/// The time at which a client's one timer fires.
///
/// A device sleeps between two timers, so they are as few as possible: an idle connection has one for each ping.
struct Alarm: Sendable {
    /// The most milliseconds by which the timer may fire too early.
    ///
    /// Each message moves the next ping. A timer that is early by less is kept, so that messages in a row set none. One
    /// that is early by more is replaced, so that an answered ping leaves no timer behind. 5 s: less than `pongMs`.
    static let earlyMs: Int64 = 5_000

    /// The time at which it fires, by the machine's clock; `nil` while there is nothing to wait for.
    private(set) var atMs: Int64?

    /// The change to make to the timer.
    enum Order: Equatable {
        /// Leave it unchanged.
        case keep
        /// Let it fire at that time, and not before.
        case set(atMs: Int64)
        /// Cancel it.
        case stop
    }

    /// Sets the time at which the machine wants a `tick`; `nil` for none.
    mutating func want(_ wakeMs: Int64?) -> Order {
        guard let wakeMs else {
            defer { atMs = nil }
            return atMs == nil ? .keep : .stop
        }
        if let atMs, atMs <= wakeMs, wakeMs - atMs < Alarm.earlyMs { return .keep }
        atMs = wakeMs
        return .set(atMs: wakeMs)
    }

    /// The timer that was set for that time has fired.
    mutating func rang(_ setMs: Int64) {
        if atMs == setMs { atMs = nil }
    }
}
