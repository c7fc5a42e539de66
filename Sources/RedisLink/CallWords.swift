import Core

/// The words of a call in the form in which they are sent: one bulk string after another.
///
/// The form is that of the Redis serialization protocol specification. Words may have any bytes: the length of each is sent
/// with it, so no byte can end or begin another word. The codec is not used here: it formats each length by `sprintf`,
/// which costs a tenth of a whole publish.
public struct CallWords: Equatable, Sendable {
    /// The bulk strings.
    private(set) var encoded: [UInt8] = []
    /// The number of words.
    public private(set) var count = 0
    /// The bytes of all words, without what is sent around them.
    private(set) var byteCount = 0

    /// The bytes around a word: a type mark, a length of up to ten digits, and two line ends.
    private static let headerBytes = 15

    /// No words.
    public init() {}

    /// Adds a word.
    public mutating func append(_ word: some Collection<UInt8>) {
        begin(word.count)
        encoded.append(contentsOf: word)
        endLine()
    }

    /// Adds a word of literal text.
    public mutating func append(_ word: StaticString) {
        begin(word.utf8CodeUnitCount)
        encoded.append(text: word)
        endLine()
    }

    /// Adds a number in decimal.
    public mutating func append(decimal value: Int) {
        begin(ASCII.decimalCount(value))
        encoded.append(decimal: value)
        endLine()
    }

    /// Adds a word that the closure appends to the bytes it is given; fewer than 100 bytes cost least.
    public mutating func append(_ write: (inout [UInt8]) -> Void) {
        let digits = encoded.count + 1
        encoded.append(text: "$00\r\n")
        let start = encoded.count
        write(&encoded)
        let length = encoded.count - start
        endLine()
        count += 1
        byteCount += length
        // The length stands before the word, and is known behind it.
        switch length {
        case ..<10:
            encoded[digits] += UInt8(length)
            encoded.remove(at: digits + 1)
        case ..<100:
            encoded[digits] += UInt8(length / 10)
            encoded[digits + 1] += UInt8(length % 10)
        default:
            encoded.replaceSubrange(digits..<(digits + 2), with: "\(length)".utf8)
        }
    }

    /// Adds words.
    mutating func append(_ more: CallWords) {
        encoded.append(contentsOf: more.encoded)
        count += more.count
        byteCount += more.byteCount
    }

    /// Removes all words and keeps their storage.
    mutating func removeAll() {
        encoded.removeAll(keepingCapacity: true)
        (count, byteCount) = (0, 0)
    }

    /// Reserves room for words that follow, and the bytes of all of them.
    public mutating func reserve(words: Int, bytes: Int) {
        encoded.reserveCapacity(encoded.count + bytes + words * CallWords.headerBytes)
    }

    private mutating func begin(_ bytes: Int) {
        encoded.append(UInt8(ascii: "$"))
        encoded.append(decimal: bytes)
        endLine()
        count += 1
        byteCount += bytes
    }

    private mutating func endLine() {
        encoded.append(UInt8(ascii: "\r"))
        encoded.append(UInt8(ascii: "\n"))
    }

    // MARK: Reading

    /// The word at an index; `nil` beyond the last.
    ///
    /// *Complexity*: linear in the index.
    public subscript(index: Int) -> ArraySlice<UInt8>? {
        var rest = encoded[...]
        for _ in 0..<min(index, count) { _ = CallWords.next(&rest) }
        return CallWords.next(&rest)
    }

    /// Every word.
    var all: [[UInt8]] {
        var rest = encoded[...]
        return (0..<count).compactMap { _ in CallWords.next(&rest).map(Array.init) }
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let digits = rest.dropFirst().prefix { $0 != UInt8(ascii: "\r") }
        guard let length = ASCII.decimal(digits) else { return nil }
        let start = digits.endIndex + 2
        rest = rest[start...]
        defer { rest = rest.dropFirst(length + 2) }
        return rest.prefix(length)
    }
}
