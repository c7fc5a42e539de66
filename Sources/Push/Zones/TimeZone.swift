import Core

/// The clocks of one region: their offset from UTC at each moment.
///
/// Read from a file of the system's time-zone database (RFC 9636). Immutable.
public struct TimeZone: Sendable, Equatable {
    /// A moment from which on clocks have a new offset.
    struct Change: Sendable, Equatable {
        /// Seconds since 1970.
        let second: Int
        /// Seconds east of UTC from then on.
        let offset: Int
    }

    /// Clocks that always show UTC, used for an unknown zone.
    public static let utc = TimeZone(first: 0, changes: [], rule: nil)

    /// The offset before the first change.
    let first: Int
    /// The changes in the order of time.
    let changes: [Change]
    /// The rule after the last change.
    let rule: TimeZoneRule?

    /// Seconds east of UTC at a moment, seconds since 1970.
    public func offset(at second: Int) -> Int {
        guard let last = changes.last else { return rule?.offset(at: second) ?? first }
        if second >= last.second, let rule { return rule.offset(at: second) }
        let index = firstChange(after: second)
        return index == 0 ? first : changes[index - 1].offset
    }

    /// The first moment after the given one at which clocks may be set; `nil` when they are not set any more.
    ///
    /// At most a year's seconds ahead; the offset at that moment may be the same as before.
    func nextChange(after second: Int) -> Int? {
        let index = firstChange(after: second)
        if index < changes.count { return changes[index].second }
        return rule?.nextChange(after: second)
    }

    /// The index of the first change after a moment.
    private func firstChange(after second: Int) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].second <= second { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a text may be the name of a zone, `Europe/Berlin`: at most three parts of letters, digits, `_`, `+` and
    /// `-`.
    ///
    /// Users send such names and they become paths, so none contains a dot or begins with a slash.
    public static func isName(_ text: [UInt8]) -> Bool {
        guard text.count <= 64, let first = text.first, ASCII.isLetter(first) else { return false }
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count <= 3
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "_+-".utf8.contains($0) }
            }
    }
}
