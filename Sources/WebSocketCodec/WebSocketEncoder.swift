/// Writes frames (RFC 6455 section 5.2), each in one array of exactly the needed size.
///
/// Frames are never fragmented and lengths are minimal.
public enum WebSocketEncoder {
    /// Bytes of the longest payload of a control frame (section 5.5).
    public static let controlBytesMax = 125
    /// Bytes of the longest header this encoder writes without a mask.
    public static let headerBytesMax = 10

    /// An unmasked frame, as a server sends it.
    ///
    /// `isDeflated`: the payload is deflated in the form of `permessage-deflate` (RFC 7692 section 7.2.1).
    ///
    /// - Precondition: A control frame's payload has at most ``controlBytesMax`` bytes, and is not deflated.
    public static func frame(
        _ opcode: WebSocketOpcode, payload: some Collection<UInt8>, isDeflated: Bool = false
    ) -> [UInt8] {
        precondition(!isDeflated || !opcode.isControl, "a deflated control frame")
        let count = payload.count
        var frame: [UInt8] = []
        frame.reserveCapacity(headerBytes(count: count) + count)
        appendHeader(to: &frame, opcode: opcode, count: count)
        if isDeflated { frame[0] |= 0x40 }
        frame.append(contentsOf: payload)
        return frame
    }

    /// A masked frame, as a client sends it (section 5.3).
    ///
    /// - Parameter mask: Fresh and unpredictable for each frame; sent highest byte first.
    /// - Precondition: A control frame's payload has at most ``controlBytesMax`` bytes.
    public static func maskedFrame(_ opcode: WebSocketOpcode, payload: [UInt8], mask: UInt32) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(headerBytes(count: payload.count) + 4 + payload.count)
        appendHeader(to: &frame, opcode: opcode, count: payload.count, maskBit: 0x80)
        let key = mask.byteSwapped
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            frame.append(UInt8(truncatingIfNeeded: key >> shift))
        }
        _ = frame.append(unmasking: payload.span, key: key)
        return frame
    }

    /// Bytes of the unmasked header of a payload of `count` bytes: 2, 4 or 10.
    public static func headerBytes(count: Int) -> Int {
        if count <= 125 { return 2 }
        return count <= 65_535 ? 4 : 10
    }

    /// Appends the unmasked header of a final frame, so that a caller can build the payload in place after it.
    ///
    /// - Precondition: `count` is not negative, and at most ``controlBytesMax`` for a control frame.
    public static func appendHeader(to frame: inout [UInt8], opcode: WebSocketOpcode, count: Int) {
        appendHeader(to: &frame, opcode: opcode, count: count, maskBit: 0)
    }

    /// The data frame that begins at a place among frames made by ``frame(_:payload:isDeflated:)``; `nil` if none does.
    public static func dataFrame(
        in frames: [UInt8], at start: Int
    ) -> (opcode: WebSocketOpcode, payload: Range<Int>)? {
        guard start >= 0, frames.count - start >= 2, let opcode = WebSocketOpcode(rawValue: frames[start] & 0x0f),
            !opcode.isControl
        else { return nil }
        let lengthBytes = frames[start + 1] < 126 ? 0 : frames[start + 1] == 126 ? 2 : 8
        let head = start + 2 + lengthBytes
        guard head <= frames.count else { return nil }
        let count = frames[(start + 2)..<head].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let payloadBytes = lengthBytes == 0 ? UInt64(frames[start + 1] & 0x7f) : count
        guard payloadBytes <= UInt64(frames.count - head) else { return nil }
        return (opcode, head..<head + Int(payloadBytes))
    }

    /// An unmasked close frame, as a server sends it; see ``closeBody(code:reason:)``.
    public static func close(code: UInt16?, reason: String) -> [UInt8] {
        frame(.close, payload: closeBody(code: code, reason: reason))
    }

    /// The body of a close frame (section 5.5.1): the code and as much of the reason as fits in 123 bytes.
    ///
    /// The reason is cut between two code points. Without a code, or with one that is not allowed in a frame (1005,
    /// 1006, 1015 and the unassigned), the body is empty, which means: no status.
    public static func closeBody(code: UInt16?, reason: String) -> [UInt8] {
        guard let code, WebSocketCloseCode.isAllowed(code) else { return [] }
        var body = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
        for scalar in reason.unicodeScalars {
            let bytes = UTF8.width(scalar)
            guard body.count + bytes <= controlBytesMax else { break }
            body.append(contentsOf: scalar.utf8)
        }
        return body
    }

    private static func appendHeader(
        to frame: inout [UInt8], opcode: WebSocketOpcode, count: Int, maskBit: UInt8
    ) {
        precondition(count >= 0 && (!opcode.isControl || count <= controlBytesMax), "frame length out of range")
        frame.append(0x80 | opcode.rawValue)
        let lengthBytes: Int
        switch headerBytes(count: count) {
        case 2:
            frame.append(maskBit | UInt8(truncatingIfNeeded: count))
            lengthBytes = 0
        case 4:
            frame.append(maskBit | 126)
            lengthBytes = 2
        default:
            frame.append(maskBit | 127)
            lengthBytes = 8
        }
        for place in (0..<lengthBytes).reversed() {
            frame.append(UInt8(truncatingIfNeeded: count >> (place * 8)))
        }
    }
}

extension Unicode.Scalar {
    fileprivate var utf8: UTF8.EncodedScalar { UTF8.encode(self) ?? UTF8.encodedReplacementCharacter }
}
