import Core

/// Reads MessagePack (the specification, "Formats"), and writes values of it as JSON.
///
/// Every length is checked against the bytes that are left before anything is read, and depth and number of values are
/// bounded. It knows the two extensions that JavaScript's encoders use: type -1 is a time, and type 0 is an old
/// encoder's time, absent value or bytes.
struct MessagePackReader {
    /// The reason why bytes are not read.
    enum Fault: Error {
        /// They are no MessagePack, or none of this form.
        case malformed
        /// They have more values, more levels or more bytes of JSON than allowed.
        case tooLarge
    }

    /// The head of a value; strings and bytes with their place, arrays and maps without their elements.
    private enum Head {
        case null
        case truth(Bool)
        case integer(Int)
        case large(UInt64)
        case float(Double)
        case string(Range<Int>)
        case bytes(Range<Int>)
        case array(Int)
        case map(Int)
        case time(Int)
        /// JavaScript's `undefined`.
        case absent
    }

    private let bytes: [UInt8]
    private let depthMax: Int
    private let textBytesMax: Int
    private var place = 0
    private var valuesLeft: Int

    /// `textBytesMax` bounds the bytes of a text that values are written to.
    init(_ bytes: [UInt8], limits: JSON.Limits, textBytesMax: Int) {
        self.bytes = bytes
        self.textBytesMax = textBytesMax
        depthMax = limits.depthMax
        valuesLeft = limits.elementsMax
    }

    /// Whether all bytes are read.
    var isAtEnd: Bool { place == bytes.count }

    // MARK: Values of a known form

    /// Reads the head of an array; its elements follow.
    mutating func arrayCount() throws(Fault) -> Int {
        guard case .array(let count) = try head() else { throw .malformed }
        return count
    }

    /// Reads the head of a map; a key and a value follow for each member.
    mutating func mapCount() throws(Fault) -> Int {
        guard case .map(let count) = try head() else { throw .malformed }
        return count
    }

    /// Reads a string of UTF-8.
    mutating func string() throws(Fault) -> [UInt8] {
        guard case .string(let range) = try head() else { throw .malformed }
        return try text(range)
    }

    /// Reads a whole number.
    mutating func integer() throws(Fault) -> Int {
        guard case .integer(let number) = try head() else { throw .malformed }
        return number
    }

    /// Reads an array of strings.
    mutating func strings() throws(Fault) -> [[UInt8]] {
        var list: [[UInt8]] = []
        for _ in 0..<(try arrayCount()) { list.append(try string()) }
        return list
    }

    /// Reads a value of any form and forgets it.
    mutating func skip() throws(Fault) {
        var left = 1
        while left > 0 {
            left -= 1
            switch try head() {
            case .array(let count): left += count
            case .map(let count): left += 2 * count
            default: break
            }
        }
    }

    // MARK: JSON

    /// Reads a value of any form and appends it as JSON; `undefined` is `null`, as in an array of `JSON.stringify`.
    mutating func appendJSON(to text: inout [UInt8]) throws(Fault) {
        try append(try head(), to: &text, depth: 1)
    }

    private mutating func append(_ head: Head, to text: inout [UInt8], depth: Int) throws(Fault) {
        switch head {
        case .null, .absent: text.append(text: "null")
        case .truth(let isTrue): text.append(text: isTrue ? "true" : "false" as StaticString)
        case .integer(let number): text.append(text: String(number))
        case .large(let number): text.append(text: String(number))
        case .float(let number): text.append(text: number.isFinite ? number.description : "null")
        case .string(let range): text.append(jsonString: try self.text(range))
        case .bytes(let range): text += BytesObject.data(of: bytes[range])
        case .time(let wallMs):
            guard Timestamp.range.contains(wallMs) else { return text.append(text: "null") }
            text.append(jsonString: Timestamp.text(wallMs: wallMs).utf8)
        case .array(let count):
            guard depth < depthMax else { throw .tooLarge }
            text.append(UInt8(ascii: "["))
            for index in 0..<count {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                try append(try self.head(), to: &text, depth: depth + 1)
            }
            text.append(UInt8(ascii: "]"))
        case .map(let count):
            guard depth < depthMax else { throw .tooLarge }
            try appendMembers(count, to: &text, depth: depth)
        }
        guard text.count <= textBytesMax else { throw .tooLarge }
    }

    /// Writes an object without its absent members, which `JSON.stringify` leaves out.
    private mutating func appendMembers(_ count: Int, to text: inout [UInt8], depth: Int) throws(Fault) {
        text.append(UInt8(ascii: "{"))
        var isFirst = true
        for _ in 0..<count {
            let name = try string()
            let value = try head()
            if case .absent = value { continue }
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text.append(jsonString: name)
            text.append(UInt8(ascii: ":"))
            try append(value, to: &text, depth: depth + 1)
        }
        text.append(UInt8(ascii: "}"))
    }

    private func text(_ range: Range<Int>) throws(Fault) -> [UInt8] {
        let text = Array(bytes[range])
        guard UTF8Text.isValid(text) else { throw .malformed }
        return text
    }

    // MARK: Heads

    private mutating func head() throws(Fault) -> Head {
        guard valuesLeft > 0 else { throw .tooLarge }
        valuesLeft -= 1
        let mark = try byte()
        switch mark {
        case 0x00...0x7f: return .integer(Int(mark))
        case 0x80...0x8f: return .map(try count(Int(mark & 0x0f), bytesEach: 2))
        case 0x90...0x9f: return .array(try count(Int(mark & 0x0f), bytesEach: 1))
        case 0xa0...0xbf: return .string(try range(Int(mark & 0x1f)))
        case 0xc0: return .null
        case 0xc2, 0xc3: return .truth(mark == 0xc3)
        case 0xc4...0xc6: return .bytes(try range(try length(1 << Int(mark - 0xc4))))
        case 0xc7...0xc9: return try extended(try length(1 << Int(mark - 0xc7)), isFixed: false)
        case 0xca: return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try number(4)))))
        case 0xcb: return .float(Double(bitPattern: try number(8)))
        case 0xcc...0xcf:
            let value = try number(1 << Int(mark - 0xcc))
            return Int(exactly: value).map(Head.integer) ?? .large(value)
        case 0xd0: return .integer(Int(Int8(truncatingIfNeeded: try number(1))))
        case 0xd1: return .integer(Int(Int16(truncatingIfNeeded: try number(2))))
        case 0xd2: return .integer(Int(Int32(truncatingIfNeeded: try number(4))))
        case 0xd3: return .integer(Int(Int64(truncatingIfNeeded: try number(8))))
        case 0xd4...0xd8: return try extended(1 << Int(mark - 0xd4), isFixed: true)
        case 0xd9...0xdb: return .string(try range(try length(1 << Int(mark - 0xd9))))
        case 0xdc, 0xdd: return .array(try count(try length(2 << Int(mark - 0xdc)), bytesEach: 1))
        case 0xde, 0xdf: return .map(try count(try length(2 << Int(mark - 0xde)), bytesEach: 2))
        case 0xe0...0xff: return .integer(Int(Int8(bitPattern: mark)))
        default: throw .malformed
        }
    }

    /// The value of an extension whose data have that length.
    private mutating func extended(_ length: Int, isFixed: Bool) throws(Fault) -> Head {
        let type = Int8(bitPattern: try byte())
        let range = try range(length)
        let data = bytes[range]
        switch (type, length, isFixed) {
        case (0, 1, true): return .absent
        case (0, 8, true): return .time(Int(truncatingIfNeeded: MessagePackReader.number(data)))
        case (0, _, false): return .bytes(range)
        case (-1, 4, _): return .time(Int(MessagePackReader.number(data)) * 1_000)
        case (-1, 8, _):
            let word = MessagePackReader.number(data)
            return .time(Int(word & 0x3_ffff_ffff) * 1_000 + Int(word >> 34) / 1_000_000)
        case (-1, 12, _):
            let seconds = Int(truncatingIfNeeded: MessagePackReader.number(data.dropFirst(4)))
            let (wallMs, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000)
            let partMs = Int(MessagePackReader.number(data.prefix(4))) / 1_000_000
            return .time(isBeyond || wallMs > Timestamp.range.upperBound ? -1 : wallMs + partMs)
        default: throw .malformed
        }
    }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard place < bytes.count else { throw .malformed }
        defer { place += 1 }
        return bytes[place]
    }

    /// Reads a number of up to eight bytes, the most significant first.
    private mutating func number(_ count: Int) throws(Fault) -> UInt64 {
        MessagePackReader.number(bytes[try range(count)])
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// Reads a length; at most four bytes, so it fits.
    private mutating func length(_ count: Int) throws(Fault) -> Int { Int(try number(count)) }

    /// A number of elements that the bytes that are left can hold.
    private func count(_ count: Int, bytesEach: Int) throws(Fault) -> Int {
        guard count <= (bytes.count - place) / bytesEach else { throw .malformed }
        return count
    }

    /// Takes so many bytes.
    private mutating func range(_ length: Int) throws(Fault) -> Range<Int> {
        guard length <= bytes.count - place else { throw .malformed }
        defer { place += length }
        return place..<(place + length)
    }
}
