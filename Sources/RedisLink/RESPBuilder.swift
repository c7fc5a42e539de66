/// Builds ``RESPValue`` trees from the codec's callbacks, within limits.
///
/// The codec announces values in document order, so an open array is one frame of a stack and a finished value goes
/// into the top frame. A header alone allocates nothing: a frame grows with the values that arrive. Confined to the
/// thread of its ``RESPReader``.
final class RESPBuilder {
    /// An array that still lacks values.
    private struct Frame {
        var values: [RESPValue]
        var missing: Int
    }

    /// The open arrays, and the finished reply.
    private struct Tree {
        var frames: [Frame] = []
        var root: RESPValue?

        /// Adds a value to the open array, and closes every array that this completes.
        mutating func add(_ value: RESPValue) {
            var value = value
            while true {
                guard !frames.isEmpty else {
                    root = value
                    return
                }
                let top = frames.count - 1
                frames[top].values.append(value)
                frames[top].missing -= 1
                guard frames[top].missing == 0, let closed = frames.popLast() else { return }
                value = .array(closed.values)
            }
        }
    }

    /// The limits of one reply.
    let limits: RESPLimits
    /// The reason why a value was refused; set before the codec is stopped.
    private(set) var failure: RESPError?
    private var tree = Tree()
    private var announced = 0
    /// Shared spellings of the first word of pub/sub messages, so that the hot path does not allocate them.
    private let message = Array("message".utf8)
    private let patternMessage = Array("pmessage".utf8)

    /// The capacity that an array gets before its values have arrived.
    private static let trustedCount = 16

    init(limits: RESPLimits) {
        self.limits = limits
    }

    /// Takes the finished reply; `nil` while none is finished.
    func takeRoot() -> RESPValue? {
        guard let value = tree.root else { return nil }
        tree.root = nil
        announced = 0
        return value
    }

    /// Adds a value to the open array, and closes every array that this completes.
    func add(_ value: RESPValue) { tree.add(value) }

    /// Opens an array; returns `false` when it announces too many values.
    func open(count: Int) -> Bool {
        guard count >= 0, count <= limits.elementsMax - announced else {
            failure = .tooManyElements
            return false
        }
        announced += count
        guard count > 0 else {
            add(.array([]))
            return true
        }
        var frame = Frame(values: [], missing: count)
        frame.values.reserveCapacity(min(count, RESPBuilder.trustedCount))
        tree.frames.append(frame)
        return true
    }

    /// Adds a bulk string; returns `false` when no line end follows it, which the codec does not check.
    func addBulk(_ text: UnsafeBufferPointer<UInt8>, terminator: (UInt8, UInt8)) -> Bool {
        guard terminator == (0x0d, 0x0a) else {
            failure = .malformed("Bulk string without line end")
            return false
        }
        add(.string(unsafe copy(text)))
        return true
    }

    /// Adds a status or error line; returns `false` when it is too long.
    func addLine(_ text: UnsafeBufferPointer<UInt8>, isError: Bool) -> Bool {
        guard text.count <= limits.lineBytesMax else {
            failure = .lineTooLong
            return false
        }
        let bytes = unsafe Array(text)
        add(isError ? .error(bytes) : .status(bytes))
        return true
    }

    private func copy(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        if text.count == message.count, unsafe text.elementsEqual(message) { return message }
        if text.count == patternMessage.count, unsafe text.elementsEqual(patternMessage) {
            return patternMessage
        }
        return unsafe Array(text)
    }
}

@available(*, unavailable)
extension RESPBuilder: Sendable {}
