import Core

/// A Redis call: its name and its arguments.
public struct RedisCall: Equatable, Sendable {
    /// The limits of a call.
    public struct Limits: Equatable, Sendable {
        /// The most arguments, the call's name included.
        public let argumentsMax: Int
        /// The most bytes of all arguments together.
        public let bytesMax: Int

        /// Makes limits; `bytesMax` is at most 1 GiB, and `argumentsMax` at most what Redis accepts.
        public init(argumentsMax: Int, bytesMax: Int) {
            self.argumentsMax = min(argumentsMax, 1 << 20)
            self.bytesMax = min(bytesMax, 1 << 30)
        }
    }

    /// The reason why a call cannot be sent; no part of it is sent.
    public enum EncodingError: Error, Equatable, Sendable {
        /// It has more arguments or bytes than the limits allow.
        case tooLarge
    }

    /// The name and the arguments, as they are sent.
    private(set) var words = CallWords()

    /// Makes a call of words, the first of which is its name.
    init(_ words: CallWords) { self.words = words }

    /// Makes a call of its name, such as `PUBLISH`.
    public init(_ name: StaticString) {
        words.append(name)
    }

    /// Makes a call of its name and arguments.
    public init(_ name: StaticString, _ arguments: [UInt8]...) {
        self.init(name)
        for argument in arguments { append(argument) }
    }

    /// Makes a call of words that somebody else has chosen, the first of which is its name.
    public init(chosen words: [[UInt8]]) {
        for word in words { append(word) }
    }

    /// The number of arguments, the name included.
    public var count: Int { words.count }

    /// Adds an argument.
    public mutating func append(_ argument: some Collection<UInt8>) { words.append(argument) }

    /// Adds an argument of literal text.
    public mutating func append(_ argument: StaticString) { words.append(argument) }

    /// Adds a number in decimal.
    public mutating func append(decimal value: Int) { words.append(decimal: value) }

    /// Reserves room for arguments that follow.
    public mutating func reserve(arguments: Int, bytes more: Int) { words.reserve(words: arguments, bytes: more) }

    /// The argument at an index, the name being the first; `nil` beyond the last.
    public func argument(_ index: Int) -> ArraySlice<UInt8>? { words[index] }

    /// The key or channel by which a cluster finds the master; `nil` for a call that any master may run.
    ///
    /// In the product's calls the key follows the name, except in four: it follows the second word of `PUBSUB` and
    /// `XGROUP`, the number of keys of `EVAL`, and `STREAMS` of `XREADGROUP`.
    public var key: [UInt8]? {
        guard let name = argument(0), !RedisCall.keyless.contains(Array(name)) else { return nil }
        var place = name.elementsEqual("PUBSUB".utf8) || name.elementsEqual("XGROUP".utf8) ? 2 : 1
        if name.elementsEqual("EVAL".utf8) { place = 3 }
        if name.elementsEqual("XREADGROUP".utf8) {
            guard let word = (4..<count).first(where: { argument($0)?.elementsEqual("STREAMS".utf8) == true }) else {
                return nil
            }
            place = word + 1
        }
        return argument(place).map { Array($0) }
    }

    private static let keyless: Set<[UInt8]> = Set(
        [
            "PING", "INFO", "ACL", "CONFIG", "CLIENT", "SCRIPT", "FUNCTION", "CLUSTER", "ROLE", "WAIT", "ASKING",
            "READONLY",
        ].map {
            Array($0.utf8)
        })

    /// The name and the arguments.
    public var arguments: [[UInt8]] { words.all }

    /// Appends the call in RESP to a connection's outbound bytes: the complete call or, on an error, nothing.
    public func encode(into output: inout [UInt8], limits: Limits) throws(EncodingError) {
        try RedisCall.encode(CallWords(), words, into: &output, limits: limits)
    }

    /// Appends a call of the words of a head and those behind it: the complete call or, on an error, nothing.
    static func encode(
        _ head: CallWords, _ words: CallWords, into output: inout [UInt8], limits: Limits
    ) throws(EncodingError) {
        let count = head.count + words.count
        guard count <= limits.argumentsMax, head.byteCount + words.byteCount <= limits.bytesMax else {
            throw .tooLarge
        }
        output.reserveCapacity(output.count + head.encoded.count + words.encoded.count + RedisCall.headerBytes)
        output.append(UInt8(ascii: "*"))
        output.append(decimal: count)
        output.append(text: "\r\n")
        output.append(contentsOf: head.encoded)
        output.append(contentsOf: words.encoded)
    }

    /// The bytes of a type mark, a count of up to ten digits, and a line end.
    private static let headerBytes = 13
}
