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
    checkHandshakes(input)
    return 0
}

private func require(_ condition: Bool, _ message: StaticString) {
    if !condition { fatalError("\(message)") }
}

private func decode(
    _ pieces: [[UInt8]], role: WebSocketDecoder.Role, limits: WebSocketLimits
) -> [WebSocketEvent] {
    var decoder = WebSocketDecoder(role: role, limits: limits)
    var events: [WebSocketEvent] = []
    for piece in pieces {
        var position = 0
        while let event = decoder.next(piece.span, at: &position) {
            events.append(event)
            require(position <= piece.count, "position beyond the input")
        }
        require(position == piece.count, "input left over")
        require(decoder.bufferedBytes <= limits.messageBytesMax + 125 + 64, "more held than the limit")
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
        case .failed: continue
        }
        masked += WebSocketEncoder.maskedFrame(opcode, payload: payload, mask: UInt32(payload.count) &* 0x9e37_79b9)
        plain += WebSocketEncoder.frame(opcode, payload: payload)
        expected.append(event)
    }
    require(decode([masked], role: .server, limits: limits) == expected, "masked round trip")
    require(decode([plain], role: .client, limits: limits) == expected, "plain round trip")
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
