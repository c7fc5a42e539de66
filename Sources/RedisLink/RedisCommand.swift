import CHiredis
import Core

/// A Redis command and its arguments, kept flat: one buffer of bytes and where each argument ends.
///
/// Arguments are bytes of any value; a length goes with each, so no byte of an argument can end or begin another.
public struct RedisCommand: Equatable, Sendable {
    /// What a command may cost.
    public struct Limits: Equatable, Sendable {
        /// Arguments, the command's name included.
        public let argumentsMax: Int
        /// Bytes of all arguments together.
        public let bytesMax: Int

        /// Makes limits; `bytesMax` counts at most 1 GiB, since the codec adds lengths in an `int`.
        public init(argumentsMax: Int, bytesMax: Int) {
            self.argumentsMax = min(argumentsMax, 1 << 20)
            self.bytesMax = min(bytesMax, 1 << 30)
        }
    }

    /// Why a command cannot be sent; nothing of it is.
    public enum EncodingError: Error, Equatable, Sendable {
        /// More arguments or bytes than the limits allow.
        case tooLarge
        /// The codec could not allocate.
        case outOfMemory
    }

    private var bytes: [UInt8]
    private var ends: [Int]

    /// Makes a command of its name, such as `PUBLISH`.
    public init(_ name: StaticString) {
        bytes = []
        ends = []
        bytes.append(text: name)
        ends.append(bytes.count)
    }

    /// Makes a command of its name and arguments.
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

    /// The name and the arguments.
    public var arguments: [[UInt8]] {
        var start = 0
        return ends.map { end in
            defer { start = end }
            return Array(bytes[start..<end])
        }
    }

    /// Appends the command in RESP to a connection's outbound bytes; all of it or, on an error, nothing.
    public func encode(into output: inout [UInt8], limits: Limits) throws(EncodingError) {
        guard ends.count <= limits.argumentsMax, bytes.count <= limits.bytesMax else { throw .tooLarge }
        var target: UnsafeMutablePointer<CChar>?
        let length = unsafe bytes.withUnsafeBytes { all in
            unsafe RedisCommand.format(all, ends: ends, into: &target)
        }
        guard length >= 0, let target = unsafe target else { throw .outOfMemory }
        unsafe output.append(
            contentsOf: UnsafeRawBufferPointer(start: target, count: Int(length)))
        unsafe redisFreeCommand(target)
    }

    private static func format(
        _ all: UnsafeRawBufferPointer, ends: [Int], into target: inout UnsafeMutablePointer<CChar>?
    ) -> CInt {
        // The name is never empty, so there is a base.
        guard let base = unsafe all.baseAddress?.assumingMemoryBound(to: CChar.self) else { return -1 }
        return unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: ends.count) { pointers in
            unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: ends.count) { lengths in
                var start = 0
                for (index, end) in ends.enumerated() {
                    unsafe pointers.initializeElement(at: index, to: base + start)
                    unsafe lengths.initializeElement(at: index, to: end - start)
                    start = end
                }
                return unsafe lengths.withMemoryRebound(to: size_t.self) { sizes in
                    unsafe redisFormatCommandArgv(&target, CInt(ends.count), pointers.baseAddress, sizes.baseAddress)
                }
            }
        }
    }
}
