import Core

/// Topics with numbers: `load:t0` to `load:t199` for `load:t:200`.
struct CrowdTopics {
    let prefix: [UInt8]
    let count: Int

    init(prefix: [UInt8], count: Int) {
        self.prefix = prefix
        self.count = count
    }

    /// Parses `PREFIX:COUNT`; `nil` unless prefix and number make topics.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let count = ASCII.decimal(text[text.index(after: colon)...].utf8),
            count > 0, count <= 1_000_000, Topic(String(text[..<colon]) + "\(count - 1)") != nil
        else { return nil }
        self.init(prefix: Array(text[..<colon].utf8), count: count)
    }

    /// The topic of a number.
    func name(_ number: Int) -> [UInt8] {
        var name = prefix
        name.append(decimal: number)
        return name
    }

    /// The number of a topic; `nil` for another one.
    func number(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard range.count > prefix.count else { return nil }
        let digits = range.lowerBound + prefix.count..<range.upperBound
        let prefix = prefix.span
        for index in prefix.indices where prefix[index] != text[range.lowerBound + index] { return nil }
        guard text[digits.lowerBound] != 0x30 || digits.count == 1 else { return nil }
        return FrameScanner.decimal(text, digits).flatMap { $0 < count ? $0 : nil }
    }
}
