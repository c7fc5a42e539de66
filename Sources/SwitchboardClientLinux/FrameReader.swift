internal import Foundation

/// Reads a server's WebSocket frames (RFC 6455 section 5) out of bytes in any pieces.
struct FrameReader {
    /// The result of a frame, or of the last frame of a message.
    enum Piece: Equatable {
        /// A whole message; a binary one has to be UTF-8, too.
        case text(String)
        /// A ping with its payload, 125 bytes at most, which the pong repeats.
        case ping([UInt8])
        /// A close frame; 1005 where it has no code.
        case close(code: Int)
        /// The server broke the protocol; the client closes with this code.
        case fault(code: Int)
    }

    /// The most bytes of one message.
    ///
    /// 16 MiB: the gateway's own limit is smaller.
    static let messageBytesMax = 16 << 20
    private var buffer: [UInt8] = []
    private var message: [UInt8] = []
    private var isFragmented = false

    /// The pieces that these bytes complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Piece] {
        buffer.append(contentsOf: bytes)
        var pieces: [Piece] = []
        var start = 0
        while let (piece, end) = frame(at: start) {
            start = end
            if let piece { pieces.append(piece) }
            if case .fault = piece { break }
        }
        buffer.removeFirst(start)
        return pieces
    }

    private mutating func frame(at start: Int) -> (Piece?, Int)? {
        guard buffer.count - start >= 2 else { return nil }
        let first = buffer[start]
        let opcode = first & 0x0f
        let isLast = first & 0x80 != 0
        guard first & 0x70 == 0, buffer[start + 1] & 0x80 == 0 else { return (.fault(code: 1_002), buffer.count) }
        var length = Int(buffer[start + 1])
        var body = start + 2
        if length >= 126 {
            let bytes = length == 126 ? 2 : 8
            guard buffer.count - body >= bytes else { return nil }
            let announced = buffer[body..<body + bytes].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard announced <= UInt64(FrameReader.messageBytesMax) else { return (.fault(code: 1_009), buffer.count) }
            length = Int(announced)
            body += bytes
        }
        guard buffer.count - body >= length else { return nil }
        let end = body + length
        let payload = buffer[body..<end]
        // RFC 6455 section 5.5: control frames are short and whole.
        if opcode >= 8, length > 125 || !isLast { return (.fault(code: 1_002), buffer.count) }
        switch opcode {
        case 8:
            let code = length >= 2 ? Int(payload[body]) << 8 | Int(payload[body + 1]) : 1_005
            return (.close(code: code), end)
        case 9: return (.ping(Array(payload)), end)
        case 10: return (nil, end)
        case 0 where isFragmented, 1 where !isFragmented, 2 where !isFragmented:
            guard message.count + length <= FrameReader.messageBytesMax else {
                return (.fault(code: 1_009), buffer.count)
            }
            message.append(contentsOf: payload)
            isFragmented = !isLast
            guard isLast else { return (nil, end) }
            defer { message = [] }
            guard let text = String(validatingBytes: message) else { return (.fault(code: 1_007), buffer.count) }
            return (.text(text), end)
        default: return (.fault(code: 1_002), buffer.count)
        }
    }
}

extension String {
    /// The text of valid UTF-8.
    fileprivate init?(validatingBytes bytes: [UInt8]) {
        guard let text = String(bytes: bytes, encoding: .utf8) else { return nil }
        self = text
    }
}

/// The bytes that wait to be written, bounded: a gateway that reads nothing must not fill the app's memory.
struct Outgoing {
    /// The most bytes that may wait.
    ///
    /// 4 MiB: several times all calls that may wait (`callBytesMax`).
    static let bytesMax = 4 << 20
    /// The bytes, of which `written` takes the first.
    private(set) var bytes: [UInt8] = []

    /// Adds frames; `false` when too many bytes wait, and the connection is to end.
    mutating func add(_ frames: [UInt8]) -> Bool {
        bytes += frames
        return bytes.count <= Outgoing.bytesMax
    }

    /// Removes bytes that were written.
    mutating func written(_ count: Int) { bytes.removeFirst(min(count, bytes.count)) }
}

/// Writes a client's frames: whole, and masked.
enum FrameWriter {
    /// A message in one frame.
    static func text(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }
    /// The answer to a ping, with its payload.
    static func pong(_ payload: [UInt8]) -> [UInt8] { frame(10, payload) }
    /// A close frame, with its code in two bytes.
    static func close(_ code: Int) -> [UInt8] { frame(8, [UInt8(code >> 8 & 0xff), UInt8(code & 0xff)]) }

    private static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x80 | opcode]
        out.reserveCapacity(payload.count + 14)
        switch payload.count {
        case ..<126: out.append(0x80 | UInt8(payload.count))
        case ..<65_536:
            out.append(0x80 | 126)
            out += [UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
        default:
            out.append(0x80 | 127)
            out += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: .min ... .max) }
        out += mask
        for (index, byte) in payload.enumerated() { out.append(byte ^ mask[index & 3]) }
        return out
    }
}
