import Compression
import Core
import WebSocketCodec

/// Fuzzes the WebSocket room: a crash, a trap or a broken promise below is a finding.
///
/// The first byte chooses role and limits, the second seeds the cuts, the rest is what a peer sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard let data = unsafe data, size >= 2 else { return 0 }
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let input = Array(bytes.dropFirst(2))
    let role: WebSocketDecoder.Role = bytes[0] & 1 == 0 ? .server : .client
    let limits = WebSocketLimits(
        messageBytesMax: 1 << Int(bytes[0] >> 1 & 15), fragmentsMax: Int(bytes[0] >> 5) * 3 + 1)

    let whole = decode([input], role: role, limits: limits)
    require(decode(input.map { [$0] }, role: role, limits: limits) == whole, "byte by byte differs from whole")
    require(decode(cuts(input, seed: bytes[1]), role: role, limits: limits) == whole, "cuts differ from whole")
    checkEvents(whole, limits: limits)
    checkRoundTrip(whole, limits: limits)
    checkDeflated(input, role: role, limits: limits, seed: bytes[1])
    checkOffers(input)
    checkHandshakes(input)
    return 0
}

private func require(_ condition: Bool, _ message: StaticString) {
    if !condition { fatalError("\(message)") }
}

private func decode(
    _ pieces: [[UInt8]], role: WebSocketDecoder.Role, limits: WebSocketLimits, deflates: Bool = false
) -> [WebSocketEvent] {
    var decoder = WebSocketDecoder(role: role, limits: limits, deflates: deflates)
    let slack = deflates ? limits.messageBytesMax / 8 + 64 : 0
    var events: [WebSocketEvent] = []
    for piece in pieces {
        var position = 0
        while let event = decoder.next(piece.span, at: &position) {
            events.append(event)
            require(position <= piece.count, "position beyond the input")
        }
        require(position == piece.count, "input left over")
        require(decoder.bufferedBytes <= limits.messageBytesMax + slack + 125 + 64, "more held than the limit")
    }
    return events
}

private func cuts(_ bytes: [UInt8], seed: UInt8) -> [[UInt8]] {
    var state = UInt32(seed) &+ 1
    var pieces: [[UInt8]] = []
    var start = 0
    while start < bytes.count {
        state = state &* 1_664_525 &+ 1_013_904_223
        let end = min(bytes.count, start + Int(state >> 27))
        pieces.append(Array(bytes[start..<end]))
        start = end
    }
    return pieces
}

/// What every list of events promises.
private func checkEvents(_ events: [WebSocketEvent], limits: WebSocketLimits) {
    for (index, event) in events.enumerated() {
        let isLast = index == events.count - 1
        switch event {
        case .message(let kind, let payload):
            require(payload.count <= limits.messageBytesMax, "message beyond the limit")
            require(kind == .binary || isText(payload), "text that is not UTF-8")
        case .deflated: require(false, "deflated without an agreement")
        case .ping(let payload), .pong(let payload):
            require(payload.count <= 125, "control frame too long")
        case .close(let code, let reason):
            require(isLast && reason.count <= 123 && isText(reason), "close")
            require(code.map(WebSocketCloseCode.isAllowed) ?? reason.isEmpty, "close code")
        case .failed(let failure):
            require(isLast && failure.closeReason.webSocketCode != nil, "failure")
        }
    }
}

/// The standard library's decoder as a second opinion on UTF-8.
private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

/// What was decoded, encoded again and decoded by either end, is the same.
private func checkRoundTrip(_ events: [WebSocketEvent], limits: WebSocketLimits) {
    var masked: [UInt8] = []
    var plain: [UInt8] = []
    var expected: [WebSocketEvent] = []
    for event in events {
        let opcode: WebSocketOpcode
        let payload: [UInt8]
        switch event {
        case .message(let kind, let bytes): (opcode, payload) = (kind == .text ? .text : .binary, bytes)
        case .ping(let bytes): (opcode, payload) = (.ping, bytes)
        case .pong(let bytes): (opcode, payload) = (.pong, bytes)
        case .close(let code, let reason):
            (opcode, payload) = (
                .close, WebSocketEncoder.closeBody(code: code, reason: String(decoding: reason, as: UTF8.self))
            )
        case .failed, .deflated: continue
        }
        masked += WebSocketEncoder.maskedFrame(opcode, payload: payload, mask: UInt32(payload.count) &* 0x9e37_79b9)
        plain += WebSocketEncoder.frame(opcode, payload: payload)
        expected.append(event)
    }
    require(decode([masked], role: .server, limits: limits) == expected, "masked round trip")
    require(decode([plain], role: .client, limits: limits) == expected, "plain round trip")
}

/// With `permessage-deflate` agreed on, cuts change nothing either, and what is inflated keeps its limits.
///
/// It comes back when it is deflated again. The input is also inflated as it is.
private func checkDeflated(_ input: [UInt8], role: WebSocketDecoder.Role, limits: WebSocketLimits, seed: UInt8) {
    let whole = decode([input], role: role, limits: limits, deflates: true)
    require(
        decode(cuts(input, seed: seed), role: role, limits: limits, deflates: true) == whole, "deflated: cuts differ")
    let (inflater, deflater) = (Inflater(), Deflater(windowBits: seed & 1 == 0 ? 9 : 15, bytesMax: 1 << 16))
    var messages: [(WebSocketEvent.Kind, [UInt8])] = [(seed & 2 == 0 ? .text : .binary, input)]
    for case .deflated(let kind, let payload) in whole { messages.append((kind, payload)) }
    for (kind, payload) in messages {
        let event = inflater.inflate(kind, payload, bytesMax: limits.messageBytesMax)
        switch event {
        case .message(let kind, let message):
            require(message.count <= limits.messageBytesMax, "inflated beyond the limit")
            require(kind == .binary || isText(message), "inflated text that is not UTF-8")
            guard let again = deflater.deflate(message[...]) else { continue }
            require(again.count < message.count, "deflated and not smaller")
            require(inflater.inflate(kind, again, bytesMax: message.count) == event, "deflated round trip")
        case .failed: continue
        default: require(false, "an inflater tells messages and failures")
        }
    }
}

/// An offer is accepted in words that are themselves acceptable.
private func checkOffers(_ input: [UInt8]) {
    for offer in [input, Array("permessage-deflate;".utf8) + input] {
        guard let agreement = DeflateAgreement(offered: [offer]) else { continue }
        let again = DeflateAgreement(offered: [Array(agreement.answer.utf8)])
        require(again == agreement, "the answer is not what was agreed on")
    }
}

/// Handshake helpers take anything without trapping.
private func checkHandshakes(_ input: [UInt8]) {
    if WebSocketHandshake.isKey(input) { require(Base64.decode(input, .standard)?.count == 16, "key") }
    let head = Array("HTTP/1.1 101 x\r\n".utf8) + input
    let accept = Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)
    for bytes in [input, head] {
        let answer = WebSocketClientHandshake.check(bytes, headBytesMax: 512, accept: accept, subprotocols: ["a"])
        if case .open(let headBytes, _) = answer { require(headBytes <= min(512, bytes.count), "head bytes") }
    }
}
