import Core

/// The places of the parts of a gateway's message, found in one pass without copying.
///
/// The text must be one JSON object; the grammar is checked only as far as the parts require. A message that cannot be
/// parsed is `nil`, never half parsed.
struct FrameScanner {
    /// Text of the member between its quotes; `nil` when there is none.
    private(set) var event: Range<Int>?
    /// The same, of the topic.
    private(set) var topic: Range<Int>?
    /// The exact text of `data`.
    private(set) var payload: Range<Int>?
    private(set) var offset: Int?
    /// The member `m` of `data`, without quotes when it is a string.
    private(set) var mark: Range<Int>?
    /// The member `t` of `data`: the time at which it was due, microseconds of CLOCK_MONOTONIC.
    private(set) var sentUs: Int?
    private var position = 0

    /// Maximum depth of arrays and objects in `data`; the depth is counted and not stored.
    private static let depthMax = 1_000

    init?(_ text: Span<UInt8>) {
        guard take(UInt8(ascii: "{"), text) else { return nil }
        repeat {
            guard let name = string(text), take(UInt8(ascii: ":"), text) else { return nil }
            if equals(text, name, "data") {
                guard let value = dataValue(text) else { return nil }
                payload = value
                continue
            }
            guard let value = value(text) else { return nil }
            if equals(text, name, "event") {
                event = unquoted(text, value)
            } else if equals(text, name, "topic") {
                topic = unquoted(text, value)
            } else if equals(text, name, "offset") {
                offset = FrameScanner.decimal(text, value)
            }
        } while take(UInt8(ascii: ","), text)
        guard take(UInt8(ascii: "}"), text), position == text.count, event != nil else { return nil }
    }

    /// Whether the event has this name.
    func isNamed(_ name: StaticString, _ text: Span<UInt8>) -> Bool {
        event.map { equals(text, $0, name) } ?? false
    }

    /// A text that consists only of digits, as a number.
    static func decimal(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 18 else { return nil }
        var value = 0
        for index in range {
            guard ASCII.isDigit(text[index]) else { return nil }
            value = value * 10 + Int(text[index] - 0x30)
        }
        return value
    }

    // MARK: Grammar

    /// Parses `data` and its members `m` and `t`.
    private mutating func dataValue(_ text: Span<UInt8>) -> Range<Int>? {
        skipSpace(text)
        guard byte(text) == UInt8(ascii: "{") else { return value(text) }
        let start = position
        position += 1
        if take(UInt8(ascii: "}"), text) { return start..<position }
        repeat {
            guard let name = string(text), take(UInt8(ascii: ":"), text), let value = value(text) else { return nil }
            if equals(text, name, "m") {
                mark = unquoted(text, value) ?? value
            } else if equals(text, name, "t") {
                sentUs = FrameScanner.decimal(text, value)
            }
        } while take(UInt8(ascii: ","), text)
        return take(UInt8(ascii: "}"), text) ? start..<position : nil
    }

    /// Skips a value of any kind.
    private mutating func value(_ text: Span<UInt8>) -> Range<Int>? {
        skipSpace(text)
        let start = position
        var depth = 0
        repeat {
            switch byte(text) {
            case 0:
                return nil
            case UInt8(ascii: "\""):
                guard string(text) != nil else { return nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            default:
                if depth > 0 { position += 1 } else { skipScalar(text) }
            }
        } while depth > 0 && depth <= FrameScanner.depthMax
        return depth == 0 && position > start ? start..<position : nil
    }

    private mutating func skipScalar(_ text: Span<UInt8>) {
        while true {
            switch byte(text) {
            case 0, 0x20, 0x0a, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"):
                return
            default:
                position += 1
            }
        }
    }

    /// Skips a string; returns the range between its quotes.
    private mutating func string(_ text: Span<UInt8>) -> Range<Int>? {
        guard take(UInt8(ascii: "\""), text) else { return nil }
        let start = position
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"):
                position += 2
            default:
                position += 1
            }
        }
        return nil
    }

    private func byte(_ text: Span<UInt8>) -> UInt8 {
        position < text.count ? text[position] : 0
    }

    private mutating func take(_ wanted: UInt8, _ text: Span<UInt8>) -> Bool {
        skipSpace(text)
        guard byte(text) == wanted else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace(_ text: Span<UInt8>) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            default: return
            }
        }
    }

    private func unquoted(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        text[range.lowerBound] == UInt8(ascii: "\"") ? range.lowerBound + 1..<range.upperBound - 1 : nil
    }

    private func equals(_ text: Span<UInt8>, _ range: Range<Int>, _ word: StaticString) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        let bytes = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for index in 0..<range.count where unsafe bytes[index] != text[range.lowerBound + index] { return false }
        return true
    }
}
