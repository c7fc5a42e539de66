import Core
import Rights

extension ArgumentType {
    /// The text for `ARGV` of a JSON value; `nil` when the value is not of this type.
    ///
    /// One value has one text, so that the gateway recognises a retry in any spelling.
    func argument(of value: JSON.Value) -> [UInt8]? {
        switch self {
        case .id, .user:
            return id(ArgumentType.idText(value))
        case .string(let range):
            return value.stringBytes.flatMap { string($0, range) }
        case .int(let range):
            return ArgumentType.whole(value).flatMap { integer($0, range) }
        case .number(let range):
            return value.double.flatMap { number($0, range) }
        case .choice(let words):
            return value.string.flatMap { words.contains($0) ? Array($0.utf8) : nil }
        case .bool:
            return value.bool.map { [UInt8(ascii: $0 ? "1" : "0")] }
        case .json(let bytesMax, let depthMax):
            guard value.raw.count <= bytesMax, ArgumentType.isShallow(value, depthMax) else { return nil }
            return Array(value.raw)
        case .time:
            return (ArgumentType.whole(value) ?? value.stringBytes.flatMap { Timestamp.milliseconds($0) }).flatMap {
                time($0)
            }
        case .ids(let range):
            guard value.kind == .array else { return nil }
            return ids(value.members.lazy.map { ArgumentType.idText($0) }, range)
        }
    }

    /// The text for `ARGV` of a part of a path or a query; `nil` when it is not of this type.
    func argument(ofText text: [UInt8]) -> [UInt8]? {
        switch self {
        case .id, .user: return id(text)
        case .string(let range): return UTF8Text.isValid(text) ? string(text, range) : nil
        case .int(let range): return ASCII.signedDecimal(text).flatMap { integer($0, range) }
        case .choice(let words): return words.contains(String(decoding: text, as: UTF8.self)) ? text : nil
        case .time:
            return (ASCII.signedDecimal(text) ?? Timestamp.milliseconds(text)).flatMap { time($0) }
        case .ids(let range):
            guard !text.isEmpty else { return ids([], range) }
            let parts = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            return ids(parts.lazy.map { Array($0) }, range)
        case .number, .bool, .json:
            // These are written as in JSON.
            let limits = JSON.Limits(depthMax: 32, elementsMax: 10_000)
            guard let json = try? JSON(parsing: text, limits: limits), json.root.kind != .null else { return nil }
            return argument(of: json.root)
        }
    }

    // MARK: One type each

    /// A whole number; `3.0` and `3e2` are accepted, since JSON treats them as whole numbers.
    ///
    /// Returns `nil` beyond ``integers``, the range that every JSON reader represents exactly. Elsewhere rounding would
    /// change the number.
    private static func whole(_ value: JSON.Value) -> Int? {
        (value.int ?? value.double.flatMap { Int(exactly: $0) }).flatMap { integers.contains($0) ? $0 : nil }
    }

    private static func idText(_ value: JSON.Value) -> [UInt8]? {
        guard let number = whole(value) else { return value.stringBytes }
        var text: [UInt8] = []
        text.append(decimal: number)
        return text
    }

    private func id(_ text: [UInt8]?) -> [UInt8]? {
        guard let text, self == .user ? Identity.isUser(text) : Topic.isID(text) else { return nil }
        return text
    }

    private func string(_ text: [UInt8], _ range: ClosedRange<Int>) -> [UInt8]? {
        // Scalars begin with every byte that does not continue one.
        let count = text.count { $0 & 0xc0 != 0x80 }
        return range.contains(count) && !text.contains(0) ? text : nil
    }

    private func integer(_ value: Int, _ range: ClosedRange<Int>) -> [UInt8]? {
        guard range.contains(value) else { return nil }
        var text: [UInt8] = []
        text.append(decimal: value)
        return text
    }

    private func number(_ value: Double, _ range: ClosedRange<Double>?) -> [UInt8]? {
        guard range?.contains(value) ?? true else { return nil }
        if let whole = Int(exactly: value), ArgumentType.integers.contains(whole) {
            return integer(whole, ArgumentType.integers)
        }
        return Array(value.description.utf8)
    }

    private func time(_ milliseconds: Int) -> [UInt8]? {
        integer(milliseconds, Timestamp.range)
    }

    /// Joins ids with spaces, which no id contains; `nil` when one is no id or their number is out of range.
    private func ids(_ list: some Sequence<[UInt8]?>, _ range: ClosedRange<Int>) -> [UInt8]? {
        var text: [UInt8] = []
        var count = 0
        for item in list {
            guard let item, Topic.isID(item), count < range.upperBound else { return nil }
            if count > 0 { text.append(UInt8(ascii: " ")) }
            text.append(contentsOf: item)
            count += 1
        }
        return range.contains(count) ? text : nil
    }

    /// Whether a value nests at most this many levels; a scalar has none.
    private static func isShallow(_ value: JSON.Value, _ levels: Int) -> Bool {
        guard value.kind == .object || value.kind == .array else { return true }
        return levels > 0 && value.members.allSatisfy { isShallow($0, levels - 1) }
    }
}
