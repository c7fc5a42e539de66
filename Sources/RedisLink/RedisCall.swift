import Core

/// A Redis call and its arguments, kept flat: one buffer of bytes and where each argument ends.
///
/// Arguments are bytes of any value; a length goes with each, so no byte of an argument can end or begin another.
public struct RedisCall: Equatable, Sendable {
    /// What a call may cost.
    public struct Limits: Equatable, Sendable {
        /// Arguments, the call's name included.
        public let argumentsMax: Int
        /// Bytes of all arguments together.
        public let bytesMax: Int

        /// Makes limits; `bytesMax` counts at most 1 GiB, and `argumentsMax` at most what Redis takes.
        public init(argumentsMax: Int, bytesMax: Int) {
            self.argumentsMax = min(argumentsMax, 1 << 20)
            self.bytesMax = min(bytesMax, 1 << 30)
        }
    }

    /// Why a call cannot be sent; nothing of it is.
    public enum EncodingError: Error, Equatable, Sendable {
        /// More arguments or bytes than the limits allow.
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

    /// How many arguments, the name included.
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

    /// Makes room for arguments to come.
    public mutating func reserve(arguments: Int, bytes more: Int) {
        ends.reserveCapacity(ends.count + arguments)
        bytes.reserveCapacity(bytes.count + more)
    }

    /// An argument, the name being the first; `nil` behind the last.
    public func argument(_ index: Int) -> ArraySlice<UInt8>? {
        guard ends.indices.contains(index) else { return nil }
        return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }

    /// The key or channel by which a cluster finds the master; `nil` for a call that any of them takes.
    ///
    /// Every call of the product that has a key has it behind its name, `PUBSUB` and `XGROUP` behind their second word, `EVAL`
    /// behind the number of keys, and `XREADGROUP` behind `STREAMS`.
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

    /// Appends the call in RESP to a connection's outbound bytes; all of it or, on an error, nothing.
    ///
    /// An array of bulk strings (Redis serialization protocol specification). Written here: the codec formats each length
    /// by `sprintf`, at a tenth of what a whole publish costs.
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

    /// A mark, a length of up to ten digits, and two line ends.
    private static let headerBytes = 15
}
