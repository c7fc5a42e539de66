import Core

/// A Redis call and its arguments, stored flat: one buffer of bytes, and the end of each argument.
///
/// Arguments may have any bytes. The length of each is sent with it, so no byte can end or begin another argument.
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

    private var bytes: [UInt8]
    private var ends: [Int]

    /// Makes a call of its name, such as `PUBLISH`.
    public init(_ name: StaticString) {
        bytes = []
        ends = []
        bytes.append(text: name)
        ends.append(bytes.count)
    }

    /// Makes a call of its name and arguments.
    public init(_ name: StaticString, _ arguments: [UInt8]...) {
        self.init(name)
        for argument in arguments { append(argument) }
    }

    /// The number of arguments, the name included.
    public var count: Int { ends.count }

    /// Adds an argument.
    public mutating func append(_ argument: some Collection<UInt8>) {
        bytes.append(contentsOf: argument)
        ends.append(bytes.count)
    }

    /// Adds an argument of literal text.
    public mutating func append(_ argument: StaticString) {
        bytes.append(text: argument)
        ends.append(bytes.count)
    }

    /// Adds a number in decimal.
    public mutating func append(decimal value: Int) {
        bytes.append(decimal: value)
        ends.append(bytes.count)
    }

    /// Reserves room for arguments that follow.
    public mutating func reserve(arguments: Int, bytes more: Int) {
        ends.reserveCapacity(ends.count + arguments)
        bytes.reserveCapacity(bytes.count + more)
    }

    /// The argument at an index, the name being the first; `nil` beyond the last.
    public func argument(_ index: Int) -> ArraySlice<UInt8>? {
        guard ends.indices.contains(index) else { return nil }
        return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

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
    public var arguments: [[UInt8]] {
        var start = 0
        return ends.map { end in
            defer { start = end }
            return Array(bytes[start..<end])
        }
    }

    /// Appends the call in RESP to a connection's outbound bytes: the complete call or, on an error, nothing.
    ///
    /// The form is an array of bulk strings (Redis serialization protocol specification). The codec is not used here:
    /// it formats each length by `sprintf`, which costs a tenth of a whole publish.
    public func encode(into output: inout [UInt8], limits: Limits) throws(EncodingError) {
        guard ends.count <= limits.argumentsMax, bytes.count <= limits.bytesMax else { throw .tooLarge }
        output.reserveCapacity(output.count + bytes.count + RedisCall.headerBytes * (ends.count + 1))
        output.append(UInt8(ascii: "*"))
        output.append(decimal: ends.count)
        output.append(text: "\r\n")
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

    /// The bytes of a type mark, a length of up to ten digits, and two line ends.
    private static let headerBytes = 15
}
