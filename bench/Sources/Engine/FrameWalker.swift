/// Walks over a server's WebSocket frames in place, in the chunks that TLS delivers (RFC 6455 section 5.2).
///
/// Only a frame that a chunk cuts is copied, until it is whole. Servers send unmasked frames. Fragments are refused,
/// since no target sends them, and so are deflated messages unless they were agreed on.
struct FrameWalker {
    /// The result of a step.
    enum Step: Equatable {
        /// A frame; its payload lies in the chunk, or, when it was cut, in ``FrameWalker/carried``.
        case frame(opcode: UInt8, payload: Range<Int>, isCarried: Bool)
        /// The chunk is used up.
        case more
        /// The stream is not a valid sequence of a server's frames.
        case failed
    }

    /// Whether `permessage-deflate` was agreed on; the opcode of a deflated frame has the bit ``deflated``.
    var deflates = false
    /// A frame cut by chunks: its header and the part of its payload received so far.
    private(set) var carried: [UInt8] = []
    /// Whether `carried` was returned whole and can be dropped.
    private var isCarriedDone = false

    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let deflated: UInt8 = 0x40
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10
    /// Maximum payload bytes, more than any target sends; a larger length is a broken stream.
    static let payloadBytesMax = 16 << 20

    private struct Header {
        var opcode: UInt8
        var headerBytes: Int
        var payloadBytes: Int
    }

    private enum Head {
        case header(Header)
        /// Number of bytes needed to parse it.
        case needs(Int)
        case failed
    }

    /// The next frame of the chunk from `position` on; `position` moves behind it.
    ///
    /// Until ``Step/more`` the next call must pass the same chunk.
    @inline(__always) mutating func next(_ chunk: Span<UInt8>, at position: inout Int) -> Step {
        if isCarriedDone {
            carried.removeAll(keepingCapacity: true)
            isCarriedDone = false
        }
        if !carried.isEmpty { return carryOn(chunk, at: &position) }
        switch head(chunk, position) {
        case .header(let header):
            let start = position &+ header.headerBytes
            let end = start &+ header.payloadBytes
            guard end <= chunk.count else { break }
            position = end
            return .frame(opcode: header.opcode, payload: start..<end, isCarried: false)
        case .needs: break
        case .failed: return .failed
        }
        carry(chunk, at: &position, upTo: Int.max)
        return .more
    }

    /// Completes the carried frame.
    @inline(never) private mutating func carryOn(_ chunk: Span<UInt8>, at position: inout Int) -> Step {
        while true {
            let wanted: Int
            switch head(carried.span, 0) {
            case .failed: return .failed
            case .needs(let bytes): wanted = bytes
            case .header(let header):
                wanted = header.headerBytes + header.payloadBytes
                if carried.count == wanted {
                    isCarriedDone = true
                    return .frame(opcode: header.opcode, payload: header.headerBytes..<wanted, isCarried: true)
                }
            }
            guard position < chunk.count else { return .more }
            carry(chunk, at: &position, upTo: wanted)
        }
    }

    @inline(never) private mutating func carry(_ chunk: Span<UInt8>, at position: inout Int, upTo wanted: Int) {
        let count = min(wanted - carried.count, chunk.count - position)
        carried.reserveCapacity(carried.count + count)
        for index in position..<position + count { carried.append(chunk[index]) }
        position += count
    }

    @inline(__always) private func head(_ bytes: Span<UInt8>, _ start: Int) -> Head {
        let available = bytes.count &- start
        guard available >= 2 else { return .needs(2) }
        let (first, second) = (bytes[start], bytes[start &+ 1])
        let opcode = first & 0x4f
        // FIN, no reserved bits but the one agreed on, and no mask.
        guard first & 0xb0 == 0x80, second & 0x80 == 0 else { return .failed }
        switch opcode {
        case FrameWalker.text, FrameWalker.binary: break
        case FrameWalker.text | FrameWalker.deflated, FrameWalker.binary | FrameWalker.deflated:
            guard deflates else { return .failed }
        // Control frames are short (section 5.5).
        case FrameWalker.close, FrameWalker.ping, FrameWalker.pong: guard second <= 125 else { return .failed }
        default: return .failed
        }
        let lengthBytes = second < 126 ? 0 : second == 126 ? 2 : 8
        guard available >= 2 &+ lengthBytes else { return .needs(2 &+ lengthBytes) }
        guard lengthBytes > 0 else {
            return .header(Header(opcode: opcode, headerBytes: 2, payloadBytes: Int(second)))
        }
        var length: UInt64 = 0
        for index in 0..<lengthBytes { length = length << 8 | UInt64(bytes[start &+ 2 &+ index]) }
        guard length <= UInt64(FrameWalker.payloadBytesMax) else { return .failed }
        return .header(
            Header(opcode: opcode, headerBytes: 2 &+ lengthBytes, payloadBytes: Int(truncatingIfNeeded: length)))
    }
}
