/// A head as a connection sent it, to recognise the same head when it is sent again.
///
/// A backend sends one head before each of its requests: only the digits of `Content-Length` change. Such a head needs no
/// parsing, since equal bytes have passed every check before. Pure.
struct HTTPRepeatedHead: Sendable {
    /// The most bytes of a head that is kept: each kept-alive connection may have one.
    static let bytesMax = 2_048

    /// The bytes up to the end of the empty line.
    private let received: [UInt8]
    /// The place of the length's digits; empty when the request has no such field.
    private let digits: Range<Int>
    private let head: HTTPRequestHead

    /// Keeps a head of these bytes; `nil` when it is too large, or when its body is in chunks.
    ///
    /// - Parameter length: The place of the length's digits in `received`; `nil` without that field.
    init?(_ head: HTTPRequestHead, received: Span<UInt8>, length: Range<Int>?) {
        guard head.keepAlive, received.count <= HTTPRepeatedHead.bytesMax, head.body != .chunked else { return nil }
        self.head = head
        var bytes: [UInt8] = []
        bytes.append(received, 0..<received.count)
        self.received = bytes
        digits = length ?? 0..<0
    }

    /// The number of bytes of the head.
    var count: Int { received.count }

    /// The head that begins at a position, if it is this one with a length of as many digits; `nil` for any other.
    ///
    /// - Parameter bodyBytesMax: A longer body is for the parser to refuse.
    func repeated(in input: Span<UInt8>, at position: Int, bodyBytesMax: Int) -> HTTPRequestHead? {
        guard input.count - position >= received.count else { return nil }
        let now = input.extracting(position..<position + received.count)
        guard isEqual(now, digits.upperBound..<received.count), isEqual(now, 0..<digits.lowerBound) else { return nil }
        guard case .length = head.body else { return isEqual(now, digits) ? head : nil }
        var length = 0
        for index in digits {
            let digit = Int(now[index]) - 0x30
            guard (0...9).contains(digit), length <= bodyBytesMax else { return nil }
            length = length * 10 + digit
        }
        guard now[digits.lowerBound] != 0x30, length <= bodyBytesMax else { return nil }
        return head.before(.length(length))
    }

    /// Compares 32 bytes a step: the range is checked once per step, so the compiler compares the bytes as vectors.
    private func isEqual(_ now: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let kept = received.span
        var index = range.lowerBound
        while index &+ 32 <= range.upperBound {
            let (left, right) = (now.extracting(index..<(index &+ 32)), kept.extracting(index..<(index &+ 32)))
            var difference: UInt8 = 0
            for offset in 0..<32 { difference |= left[offset] ^ right[offset] }
            guard difference == 0 else { return false }
            index &+= 32
        }
        while index < range.upperBound {
            guard now[index] == kept[index] else { return false }
            index &+= 1
        }
        return true
    }
}
