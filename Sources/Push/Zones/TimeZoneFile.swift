/// Reads a file of the time-zone database, the form TZif (RFC 9636 section 3); accepts any bytes.
struct TimeZoneFile {
    /// The counts of one header.
    private struct Counts {
        var universal = 0
        var standard = 0
        var leaps = 0
        var changes = 0
        var kinds = 0
        var letters = 0

        /// Bytes of the block after the header, with times of so many bytes.
        func bytes(time: Int) -> Int {
            changes * (time + 1) + kinds * 6 + letters + leaps * (time + 4) + standard + universal
        }
    }

    private let bytes: [UInt8]
    private var place = 0

    /// The most bytes of a file that is read; the largest of the database has 4 KB.
    static let bytesMax = 65_536
    /// The most changes that are accepted.
    private static let changesMax = 2_000
    private static let headerBytes = 44

    /// The zone of a file; `nil` for a malformed one.
    static func read(_ bytes: [UInt8]) -> TimeZone? {
        guard bytes.count <= bytesMax else { return nil }
        var file = TimeZoneFile(bytes: bytes)
        return file.zone()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func zone() -> TimeZone? {
        // The first block has times of 32 bits, for old readers.
        guard let (version, first) = header(), version >= UInt8(ascii: "2") else { return nil }
        place += first.bytes(time: 4)
        guard let (_, counts) = header(), counts.kinds > 0, counts.changes <= TimeZoneFile.changesMax,
            place + counts.bytes(time: 8) <= bytes.count
        else { return nil }
        let times = place
        let indices = times + counts.changes * 8
        let kinds = indices + counts.changes
        var changes: [TimeZone.Change] = []
        for index in 0..<counts.changes {
            let kind = Int(bytes[indices + index])
            let second = number(times + index * 8, bytes: 8)
            guard kind < counts.kinds, (changes.last.map { $0.second < second } ?? true) else { return nil }
            guard let offset = offset(kinds + kind * 6) else { return nil }
            changes.append(TimeZone.Change(second: second, offset: offset))
        }
        guard let before = offset(kinds) else { return nil }
        place += counts.bytes(time: 8)
        return TimeZone(first: before, changes: changes, rule: rule())
    }

    private mutating func header() -> (version: UInt8, counts: Counts)? {
        guard bytes.count - place >= TimeZoneFile.headerBytes, bytes[place...].starts(with: Array("TZif".utf8))
        else { return nil }
        let start = place
        func count(_ index: Int) -> Int { min(max(number(start + 20 + index * 4, bytes: 4), 0), 1 << 20) }
        var counts = Counts()
        counts.universal = count(0)
        counts.standard = count(1)
        counts.leaps = count(2)
        counts.changes = count(3)
        counts.kinds = count(4)
        counts.letters = count(5)
        place += TimeZoneFile.headerBytes
        return (bytes[start + 4], counts)
    }

    /// A signed number, the most significant byte first.
    private func number(_ start: Int, bytes count: Int) -> Int {
        var value: Int64 = bytes[start] & 0x80 == 0 ? 0 : -1
        for byte in bytes[start..<start + count] { value = value << 8 | Int64(byte) }
        return Int(value)
    }

    /// Plausible seconds east of UTC; `nil` for others.
    private func offset(_ start: Int) -> Int? {
        let seconds = number(start, bytes: 4)
        return abs(seconds) <= TimeZoneRule.offsetMax ? seconds : nil
    }

    /// The rule between the two line ends after the second block.
    private func rule() -> TimeZoneRule? {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\n") else { return nil }
        let text = bytes[(place + 1)...].prefix { $0 != UInt8(ascii: "\n") }
        return TimeZoneRule(text)
    }
}
