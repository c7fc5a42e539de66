/// The demo's time: an hour of the shop's day passes in half a minute, a night in a quarter of one.
enum DemoClock {
    /// The display of a wall clock in the shop.
    struct Reading: Equatable, Sendable {
        let day: String
        /// `14:35`.
        let time: String
        let isOpen: Bool
    }

    /// Minutes after midnight during which people are in the shop.
    static let dayMinutes = 8 * 60 + 30..<19 * 60 + 30
    /// Minutes after midnight during which guests are served.
    static let openMinutes = 9 * 60..<19 * 60
    /// Duration of a minute of the day, milliseconds.
    static let minuteMs = 500
    /// Duration of a minute of the night, milliseconds.
    static let nightMinuteMs = 20
    /// Duration of a day and its night, milliseconds.
    static let dayMs = dayMinutes.count * minuteMs + (1_440 - dayMinutes.count) * nightMinuteMs

    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// The day, from 0 on, and its minute; the night belongs to the day before it.
    static func place(_ ms: Int) -> (day: Int, minute: Int) {
        let (day, inDay) = (ms / dayMs, ms % dayMs)
        let daylightMs = dayMinutes.count * minuteMs
        guard inDay >= daylightMs else { return (day, dayMinutes.lowerBound + inDay / minuteMs) }
        return (day, dayMinutes.upperBound + (inDay - daylightMs) / nightMinuteMs)
    }

    /// The time of a minute of a day's daylight, milliseconds since the demo began.
    static func ms(day: Int, minute: Int) -> Int {
        day * dayMs + (minute - dayMinutes.lowerBound) * minuteMs
    }

    /// Whether it is day.
    static func isDay(_ ms: Int) -> Bool { dayMinutes.contains(place(ms).minute) }

    /// The display of the clock.
    static func reading(_ ms: Int) -> Reading {
        let (day, minute) = place(ms)
        func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let clock = minute % 1_440
        return Reading(
            day: days[(day + minute / 1_440) % days.count], time: "\(padded(clock / 60)):\(padded(clock % 60))",
            isOpen: openMinutes.contains(minute))
    }
}
