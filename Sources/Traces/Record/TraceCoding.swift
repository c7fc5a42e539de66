import Core

/// Appends the parts of an entry to bytes.
struct TraceWriter {
    var bytes: [UInt8]

    /// Appends a text behind its length, cut at 255 bytes.
    mutating func append(text: some Collection<UInt8>) {
        let text = text.prefix(255)
        bytes.append(UInt8(truncatingIfNeeded: text.count))
        bytes.append(contentsOf: text)
    }

    /// Appends a number of 0 or more, seven bits in a byte; a negative one counts as 0.
    mutating func append(number: Int) {
        var rest = UInt64(max(number, 0))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a position; an empty epoch stands for none.
    mutating func append(position: Position?) {
        append(text: position?.epoch ?? [])
        if let position { append(number: position.offset) }
    }

    mutating func append(flag: Bool) { bytes.append(flag ? 1 : 0) }
}

/// Reads the parts of an entry; `nil` where the bytes end or are out of a grammar.
struct TraceReader {
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    mutating func byte() -> UInt8? {
        guard index < bytes.endIndex else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func text() -> ArraySlice<UInt8>? {
        guard let count = byte(), bytes.endIndex - index >= Int(count) else { return nil }
        defer { index += Int(count) }
        return bytes[index..<(index + Int(count))]
    }

    mutating func number() -> Int? {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while let byte = byte(), shift < 63 {
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return Int(exactly: value) }
            shift += 7
        }
        return nil
    }

    mutating func topic() -> Topic? { text().flatMap { Topic($0) } }

    mutating func flag() -> Bool? { byte().map { $0 != 0 } }

    /// A position; `.some(nil)` for an entry that has none.
    mutating func position() -> Position?? {
        guard let epoch = text() else { return nil }
        if epoch.isEmpty { return .some(nil) }
        guard let offset = number(), let position = Position(epoch: epoch, offset: offset) else { return nil }
        return position
    }
}

extension TraceEntry.Change {
    /// Appends the content behind the head of an entry.
    func append(to writer: inout TraceWriter) {
        switch self {
        case .opened(let caller, let name, let address, let dialect, let sinceMs):
            writer.bytes.append(caller.rawValue)
            writer.append(text: name)
            writer.append(text: address?.bytes ?? [])
            writer.append(text: dialect)
            writer.append(number: sinceMs)
        case .named(let user), .token(let user): writer.append(text: user)
        case .subscribed(let topic, let at, let since, let isRecovered, let isFollowed):
            writer.append(text: topic.bytes)
            writer.append(position: at)
            writer.append(position: since)
            writer.append(flag: isRecovered)
            writer.append(flag: isFollowed)
        case .left(let topic, let handed):
            writer.append(text: topic.bytes)
            writer.append(position: handed)
        case .refused(let topic, let code, let message), .withdrawn(let topic, let code, let message):
            writer.append(text: topic.bytes)
            writer.append(text: code)
            writer.append(text: message.prefix(TraceEntry.textBytesMax))
        case .conflated(let topic, let epoch, let ranges, let isWhole):
            writer.append(text: topic.bytes)
            writer.append(text: epoch)
            writer.append(flag: isWhole)
            let kept = ranges.prefix(TraceEntry.rangesMax)
            writer.append(number: kept.count)
            for range in kept {
                writer.append(number: range.lowerBound)
                writer.append(number: range.upperBound - range.lowerBound)
            }
        case .gap(let topic, let from, let to, let isReset):
            writer.append(text: topic.bytes)
            writer.append(position: from)
            writer.append(position: to)
            writer.append(flag: isReset)
        case .unsent(let topic, let position):
            writer.append(text: topic.bytes)
            writer.append(position: position)
        case .closed(let reason): writer.append(text: reason.rawValue.utf8)
        case .excludes, .full: break
        }
    }

    /// Reads the content; `nil` for an erased or malformed entry.
    init?(_ kind: Kind, _ content: ArraySlice<UInt8>) {
        var reader = TraceReader(content)
        let change: Self? =
            switch kind {
            case .erased: nil
            case .full: .full
            case .opened: Self.opened(&reader)
            case .named: reader.text().map { .named(Array($0)) }
            case .excludes: .excludes
            case .token: reader.text().map { .token(Array($0)) }
            case .closed:
                reader.text().flatMap { CloseReason(rawValue: String(decoding: $0, as: UTF8.self)) }.map { .closed($0) }
            default: Self.ofTopic(kind, &reader)
            }
        guard let change else { return nil }
        self = change
    }

    private static func opened(_ reader: inout TraceReader) -> Self? {
        guard let caller = reader.byte().flatMap({ TraceEntry.Caller(rawValue: $0) }), let name = reader.text(),
            let bytes = reader.text(), let dialect = reader.text(), let sinceMs = reader.number()
        else { return nil }
        let address = IPAddress(bytes: bytes)
        return .opened(caller, name: Array(name), address: address, dialect: Array(dialect), sinceMs: sinceMs)
    }

    private static func ofTopic(_ kind: Kind, _ reader: inout TraceReader) -> Self? {
        guard let topic = reader.topic() else { return nil }
        switch kind {
        case .subscribed:
            guard let at = reader.position() ?? nil, let since = reader.position(), let isRecovered = reader.flag(),
                let isFollowed = reader.flag()
            else { return nil }
            return .subscribed(topic, at: at, since: since, isRecovered: isRecovered, isFollowed: isFollowed)
        case .left: return reader.position().map { .left(topic, handed: $0) }
        case .refused, .withdrawn:
            guard let code = reader.text(), let message = reader.text() else { return nil }
            return kind == .refused
                ? .refused(topic, code: Array(code), message: Array(message))
                : .withdrawn(topic, code: Array(code), message: Array(message))
        case .conflated: return conflated(topic, &reader)
        case .gap:
            guard let from = reader.position(), let to = reader.position() ?? nil, let isReset = reader.flag() else {
                return nil
            }
            return .gap(topic, from: from, to: to, isReset: isReset)
        case .unsent: return (reader.position() ?? nil).map { .unsent(topic, $0) }
        default: return nil
        }
    }

    private static func conflated(_ topic: Topic, _ reader: inout TraceReader) -> Self? {
        guard let epoch = reader.text(), let isWhole = reader.flag(), let count = reader.number(),
            count <= TraceEntry.rangesMax
        else { return nil }
        var ranges: [ClosedRange<Int>] = []
        for _ in 0..<count {
            guard let first = reader.number(), let length = reader.number() else { return nil }
            let (last, overflowed) = first.addingReportingOverflow(length)
            guard !overflowed else { return nil }
            ranges.append(first...last)
        }
        return .conflated(topic, epoch: Array(epoch), ranges, isWhole: isWhole)
    }
}
