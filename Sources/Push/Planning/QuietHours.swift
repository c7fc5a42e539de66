/// The hours of each day in which a user's devices stay silent, by the clocks of a time zone.
///
/// A moment is quiet when clocks there show a time from `from` on and before `to`. On a day on which clocks are set
/// this is applied literally: skipped hours are not quiet, and repeated ones are quiet twice.
public struct QuietHours: Sendable, Equatable {
    /// The treatment of a push in quiet hours.
    public enum Mode: Sendable, Equatable {
        /// It waits until they end.
        case hold
        /// It is sent at once, without sound.
        case silent
    }

    /// The first quiet minute of the day, 0 to 1439.
    public let from: Int
    /// The first minute that is not quiet; before ``from`` when the hours span midnight.
    public let to: Int
    /// The treatment of pushes.
    public let mode: Mode

    /// The hours between two minutes of the day; `nil` for equal ones, and for numbers that are no minute of a day.
    public init?(from: Int, to: Int, mode: Mode) {
        guard (0..<1_440).contains(from), (0..<1_440).contains(to), from != to else { return nil }
        self.from = from
        self.to = to
        self.mode = mode
    }

    /// The most clock changes within the quiet hours of one day.
    private static let changesMax = 8

    /// Whether a moment, milliseconds since 1970, is quiet.
    public func contains(_ ms: Int, in zone: TimeZone) -> Bool {
        let second = ms.dividingFloor(by: 1_000)
        return contains(secondOfDay: QuietHours.secondOfDay(second, zone.offset(at: second)))
    }

    /// The end of the quiet hours around a moment, milliseconds since 1970; the moment itself when it is not quiet.
    public func end(after ms: Int, in zone: TimeZone) -> Int {
        guard contains(ms, in: zone) else { return ms }
        var second = ms.dividingFloor(by: 1_000)
        for _ in 0..<QuietHours.changesMax {
            let clock = QuietHours.secondOfDay(second, zone.offset(at: second))
            let end = second + ((to * 60 - clock) % 86_400 + 86_400) % 86_400
            guard let change = zone.nextChange(after: second), change <= end else { return end * 1_000 }
            // Clocks are set before the end: the hours continue only if clocks still show a quiet time.
            guard contains(change * 1_000, in: zone) else { return change * 1_000 }
            second = change
        }
        return second * 1_000
    }

    private func contains(secondOfDay clock: Int) -> Bool {
        let minute = clock / 60
        return from < to ? minute >= from && minute < to : minute >= from || minute < to
    }

    /// The time that clocks show, in seconds since midnight.
    private static func secondOfDay(_ second: Int, _ offset: Int) -> Int {
        let local = second + offset
        return local - local.dividingFloor(by: 86_400) * 86_400
    }
}
