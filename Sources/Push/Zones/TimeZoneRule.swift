import Core

/// The clock changes in each future year: the text `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// It is the form of POSIX (environment variable TZ), with the hours beyond a day that RFC 9636 section 3.3.1 allows.
struct TimeZoneRule: Sendable, Equatable {
    /// A day of a year.
    private enum Day: Sendable, Equatable {
        /// The n-th weekday (0 is Sunday) of a month; 5 is the last.
        case weekday(month: Int, week: Int, day: Int)
        /// The n-th day from 1; 29 February is not counted.
        case julian(Int)
        /// The n-th day from 0; 29 February is counted.
        case ordinal(Int)

        /// Days since 1970 of the day in a year.
        func days(in year: Int) -> Int {
            switch self {
            case .ordinal(let day): return Timestamp.daysSince1970(year, 1, 1) + day
            case .julian(let day):
                let leap = Timestamp.daysSince1970(year + 1, 1, 1) - Timestamp.daysSince1970(year, 1, 1) == 366
                return Timestamp.daysSince1970(year, 1, 1) + day - 1 + (leap && day >= 60 ? 1 : 0)
            case .weekday(let month, let week, let day):
                let first = Timestamp.daysSince1970(year, month, 1)
                let next =
                    month == 12
                    ? Timestamp.daysSince1970(year + 1, 1, 1)
                    : Timestamp.daysSince1970(year, month + 1, 1)
                // 1 January 1970 was a Thursday.
                let weekday = (first + 4) % 7
                var found = first + (day - weekday + 7) % 7 + (week - 1) * 7
                while found >= next { found -= 7 }
                return found
            }
        }
    }

    /// The moment at which clocks are set, by the clock before it.
    private struct Turn: Sendable, Equatable {
        let day: Day
        /// Seconds after midnight; may be negative or beyond the day.
        let second: Int
    }

    /// The greatest plausible seconds east of UTC: a little more than a day.
    static let offsetMax = 90_000
    /// The years for which rules apply; before and after, clocks show the standard time.
    private static let years = 1_970...9_000

    private let standard: Int
    private let summer: Int
    private let turns: (toSummer: Turn, back: Turn)?

    /// Reads the text; `nil` for anything else.
    init?(_ text: ArraySlice<UInt8>) {
        var reader = Reader(rest: text)
        guard reader.skipName(), let west = reader.offset() else { return nil }
        standard = -west
        guard !reader.rest.isEmpty else {
            summer = standard
            turns = nil
            return
        }
        guard reader.skipName() else { return nil }
        if reader.rest.first == UInt8(ascii: ",") {
            summer = standard + 3_600
        } else {
            guard let west = reader.offset() else { return nil }
            summer = -west
        }
        guard let toSummer = reader.turn(), let back = reader.turn(), reader.rest.isEmpty else { return nil }
        turns = (toSummer, back)
    }

    static func == (left: TimeZoneRule, right: TimeZoneRule) -> Bool {
        left.standard == right.standard && left.summer == right.summer
            && left.turns?.toSummer == right.turns?.toSummer && left.turns?.back == right.turns?.back
    }

    /// Seconds east of UTC at a moment.
    func offset(at second: Int) -> Int {
        changes(around: second).last { $0.second <= second }?.offset ?? standard
    }

    /// The first moment after the given one at which clocks are set.
    func nextChange(after second: Int) -> Int? {
        changes(around: second).first { $0.second > second }?.second
    }

    /// The changes of the year of a moment and of the years beside it, in order.
    private func changes(around second: Int) -> [TimeZone.Change] {
        guard let turns else { return [] }
        let days = second.dividingFloor(by: 86_400)
        // A year of the calendar has 365.2425 days, so the guess is one off at most.
        let year = 1_970 + (days * 10_000).dividingFloor(by: 3_652_425)
        guard TimeZoneRule.years.contains(year) else { return [] }
        return (year - 1...year + 2)
            .flatMap { year in
                [
                    TimeZone.Change(second: moment(turns.toSummer, year, standard), offset: summer),
                    TimeZone.Change(second: moment(turns.back, year, summer), offset: standard),
                ]
            }
            .sorted { $0.second < $1.second }
    }

    private func moment(_ turn: Turn, _ year: Int, _ offset: Int) -> Int {
        turn.day.days(in: year) * 86_400 + turn.second - offset
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ byte: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: byte) else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// `CET`, or `<+03>`.
        mutating func skipName() -> Bool {
            if skip("<") {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                rest = rest[(end + 1)...]
                return true
            }
            let name = rest.prefix { ASCII.isLetter($0) }
            rest = rest.dropFirst(name.count)
            return name.count >= 3
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix(3).prefix { ASCII.isDigit($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let value = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            return range.contains(value) ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func seconds(hoursMax: Int) -> Int? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let hours = number(0...hoursMax) else { return nil }
            var total = hours * 3_600
            for unit in [60, 1] where skip(":") {
                guard let value = number(0...59) else { return nil }
                total += value * unit
            }
            return isNegative ? -total : total
        }

        mutating func offset() -> Int? { seconds(hoursMax: 24) }

        /// `,M3.5.0/2`.
        mutating func turn() -> Turn? {
            guard skip(",") else { return nil }
            let day: Day
            if skip("M") {
                guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
                    let weekday = number(0...6)
                else { return nil }
                day = .weekday(month: month, week: week, day: weekday)
            } else if skip("J") {
                guard let number = number(1...365) else { return nil }
                day = .julian(number)
            } else {
                guard let number = number(0...365) else { return nil }
                day = .ordinal(number)
            }
            guard skip("/") else { return Turn(day: day, second: 7_200) }
            return seconds(hoursMax: 167).map { Turn(day: day, second: $0) }
        }
    }
}

extension Int {
    /// The quotient rounded down, for a divisor above zero.
    func dividingFloor(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
