import TestSupport
import Testing
import WebSocketCodec

/// Writes frames byte by byte, right or wrong, independently of the encoder under test.
enum Wire {
    static let mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]

    /// How a length is written.
    enum LengthForm {
        case minimal
        case bits16
        case bits64
    }

    /// One frame; `announced` overrides the length in the header, `mask: nil` leaves it unmasked.
    static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], fin: Bool = true, rsv: UInt8 = 0, form: LengthForm = .minimal,
        announced: UInt64? = nil, mask: [UInt8]? = Wire.mask
    ) -> [UInt8] {
        let length = announced ?? UInt64(payload.count)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        var bytes = [(fin ? 0x80 : 0) | rsv << 4 | opcode]
        func appendLength(_ count: Int) {
            for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(place * 8))) }
        }
        switch form {
        case .minimal where length < 126: bytes.append(maskBit | UInt8(length))
        case .bits16,
            .minimal where length < 65_536 && form != .bits64:
            bytes.append(maskBit | 126)
            appendLength(2)
        default:
            bytes.append(maskBit | 127)
            appendLength(8)
        }
        guard let mask else { return bytes + payload }
        bytes += mask
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ mask[index % 4]) }
        return bytes
    }

    static func text(_ payload: String, fin: Bool = true) -> [UInt8] { frame(0x1, Array(payload.utf8), fin: fin) }
    static func text(_ payload: [UInt8], fin: Bool = true) -> [UInt8] { frame(0x1, payload, fin: fin) }
    static func binary(_ payload: [UInt8], fin: Bool = true) -> [UInt8] { frame(0x2, payload, fin: fin) }
    static func more(_ payload: String, fin: Bool = true) -> [UInt8] { frame(0x0, Array(payload.utf8), fin: fin) }
    static func more(_ payload: [UInt8], fin: Bool = true) -> [UInt8] { frame(0x0, payload, fin: fin) }
    static func ping(_ payload: String = "") -> [UInt8] { frame(0x9, Array(payload.utf8)) }
    static func pong(_ payload: String = "") -> [UInt8] { frame(0xa, Array(payload.utf8)) }
    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x8, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason)
    }
}

extension WebSocketEvent {
    static func text(_ payload: String) -> WebSocketEvent { .message(kind: .text, payload: Array(payload.utf8)) }
    static func text(_ payload: [UInt8]) -> WebSocketEvent { .message(kind: .text, payload: payload) }
    static func binary(_ payload: [UInt8]) -> WebSocketEvent { .message(kind: .binary, payload: payload) }
    static func ping(_ payload: String) -> WebSocketEvent { .ping(Array(payload.utf8)) }
    static func pong(_ payload: String) -> WebSocketEvent { .pong(Array(payload.utf8)) }
}

/// Limits for one Autobahn run: 16 MiB in as many frames as group 9 sends.
let wideLimits = WebSocketLimits(messageBytesMax: 16 << 20, fragmentsMax: 1 << 17)

/// Feeds pieces to a fresh decoder and collects its events, checking what holds after every piece.
func decode(
    _ pieces: [[UInt8]], role: WebSocketDecoder.Role = .server, limits: WebSocketLimits = wideLimits,
    deflates: Bool = false
) -> [WebSocketEvent] {
    var decoder = WebSocketDecoder(role: role, limits: limits, deflates: deflates)
    var events: [WebSocketEvent] = []
    for piece in pieces {
        var position = 0
        while let event = decoder.next(piece.span, at: &position) { events.append(event) }
        #expect(position == piece.count, "nil must mean that the input is used up")
        let slack = deflates ? limits.messageBytesMax / 8 + 64 : 0
        #expect(decoder.bufferedBytes <= limits.messageBytesMax + slack + 125 + 64)
    }
    return events
}

/// Expects the same events from the bytes whole, byte by byte, and at random cuts.
func expect(
    _ bytes: [UInt8], role: WebSocketDecoder.Role = .server, limits: WebSocketLimits = wideLimits,
    deflates: Bool = false, gives events: [WebSocketEvent], _ sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        decode([bytes], role: role, limits: limits, deflates: deflates) == events, "whole",
        sourceLocation: sourceLocation)
    let single = bytes.map { [$0] }
    #expect(
        decode(single, role: role, limits: limits, deflates: deflates) == events, "byte by byte",
        sourceLocation: sourceLocation)
    for seed: UInt64 in 1...8 {
        #expect(
            decode(Seeded.cuts(bytes, seed: seed), role: role, limits: limits, deflates: deflates) == events,
            "cut with seed \(seed)",
            sourceLocation: sourceLocation)
    }
}
