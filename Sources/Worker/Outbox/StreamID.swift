import Core

/// The id of a stream's entry: milliseconds, and a number that distinguishes entries of one millisecond.
struct StreamID: Hashable, Comparable {
    let ms: UInt64
    let number: UInt64

    init(ms: UInt64, number: UInt64) {
        (self.ms, self.number) = (ms, number)
    }

    /// Reads `1700000000000-3`; `nil` for anything else.
    init?(_ text: some Collection<UInt8>) {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")),
            let ms = StreamID.number(text[..<dash]), let number = StreamID.number(text[text.index(after: dash)...])
        else { return nil }
        (self.ms, self.number) = (ms, number)
    }

    /// The least id after it; itself for the last possible one.
    var next: StreamID {
        if number < .max { return StreamID(ms: ms, number: number + 1) }
        return ms < .max ? StreamID(ms: ms + 1, number: 0) : self
    }

    /// The text in Redis.
    var text: [UInt8] { Array("\(ms)-\(number)".utf8) }

    static func < (left: StreamID, right: StreamID) -> Bool {
        (left.ms, left.number) < (right.ms, right.number)
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.count <= 20 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            guard ASCII.isDigit(digit) else { return nil }
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooMuch) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooMuch else { return nil }
            value = sum
        }
        return value
    }
}
