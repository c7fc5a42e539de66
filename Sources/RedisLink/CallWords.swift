import Core

/// The words of a call, stored flat: one buffer of bytes, and the end of each word.
///
/// Words may have any bytes. The length of each is sent with it, so no byte can end or begin another word.
public struct CallWords: Equatable, Sendable {
    /// The bytes of all words, one after another.
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// The bytes of a type mark, a length of up to ten digits, and two line ends.
    static let headerBytes = 15

    /// No words.
    public init() {}

    /// The number of words.
    public var count: Int { ends.count }

    /// The word at an index; `nil` beyond the last.
    public subscript(index: Int) -> ArraySlice<UInt8>? {
        guard ends.indices.contains(index) else { return nil }
        return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

    /// Adds a word.
    public mutating func append(_ word: some Collection<UInt8>) {
        bytes.append(contentsOf: word)
        ends.append(bytes.count)
    }

    /// Adds a word of literal text.
    public mutating func append(_ word: StaticString) {
        bytes.append(text: word)
        ends.append(bytes.count)
    }

    /// Adds a number in decimal.
    public mutating func append(decimal value: Int) {
        bytes.append(decimal: value)
        ends.append(bytes.count)
    }

    /// Adds words.
    mutating func append(_ more: CallWords) {
        let start = bytes.count
        bytes.append(contentsOf: more.bytes)
        for end in more.ends { ends.append(start + end) }
    }

    /// Reserves room for words that follow.
    public mutating func reserve(words: Int, bytes more: Int) {
        ends.reserveCapacity(ends.count + words)
        bytes.reserveCapacity(bytes.count + more)
    }

    /// Appends each word as a bulk string (Redis serialization protocol specification).
    ///
    /// The codec is not used here: it formats each length by `sprintf`, which costs a tenth of a whole publish.
    func encode(into output: inout [UInt8]) {
        var start = 0
        for end in ends {
            output.append(UInt8(ascii: "$"))
            output.append(decimal: end - start)
            output.append(text: "\r\n")
            output.append(contentsOf: bytes[start..<end])
            output.append(text: "\r\n")
            start = end
        }
    }
}
