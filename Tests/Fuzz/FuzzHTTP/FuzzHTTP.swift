import Core
import HTTPCodec

/// Small limits, so that a fuzzer reaches every one of them with short inputs.
private let limits = HTTPLimits(requestLineBytesMax: 128, headBytesMax: 512, headersMax: 8, bodyBytesMax: 64)

/// Feeds a parser pieces of the given length, 0 for all at once; `keepingHeads` recognises heads that are sent again.
private func transcript(
    _ input: [UInt8], piece: Int, keepingHeads: Bool = false
) -> (events: [HTTPEvent], remainder: [UInt8]) {
    var parser = HTTPRequestParser(limits: limits)
    var events: [HTTPEvent] = []
    var remainder: [UInt8] = []
    var start = 0
    repeat {
        let end = piece == 0 ? input.count : min(start + piece, input.count)
        let bytes = Array(input[start..<end])
        start = end
        var position = 0
        while let event = parser.next(bytes.span, at: &position) {
            events.append(event)
            if keepingHeads { parser.keepHead() }
        }
        remainder += bytes[position...]
    } while start < input.count
    return (events, remainder)
}

/// Uses every reader of a head; what they answer is for the unit tests to judge.
private func exercise(_ head: HTTPRequestHead) {
    _ = head.pathSegments
    _ = head.queryItems
    _ = head.queryItem("after")
    for field in head.headers.fields {
        let name = String(decoding: field.name, as: UTF8.self)
        precondition(head.headers.single(name) != .absent, "a field that is there was not found")
        _ = head.headers.tokens(of: name)
        guard let value = HTTPHeaderValue(field.value) else { continue }
        var response = HTTPResponse(status: 200, body: [], keepAlive: true)
        response.set(.xRequestID, value)
        let lines = response.encoded(for: head.method).split(separator: 0x0a, omittingEmptySubsequences: false)
        precondition(lines.count == 5, "a reflected value broke out of its line")
    }
}

/// The entry point of libFuzzer: the first byte chooses the cuts, the rest is the input.
///
/// Traps when cutting or keeping heads changes the events, when the order of events is wrong, or when a body exceeds its limit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = bytes.first else { return 0 }
    let input = Array(bytes.dropFirst())
    let whole = transcript(input, piece: 0)
    for piece in Set([1, 1 + Int(first)]) {
        let cut = transcript(input, piece: piece)
        precondition(cut.events == whole.events, "the cut changed the events")
        precondition(cut.remainder == whole.remainder, "the cut changed what is left for the WebSocket")
    }
    // The input twice, so that its heads are sent again.
    let twice = input + input
    precondition(
        transcript(twice, piece: 0, keepingHeads: true) == transcript(twice, piece: 0),
        "a head that was sent again was read in another way")
    var bodyDue = false
    for (index, event) in whole.events.enumerated() {
        switch event {
        case .head(let head):
            precondition(!bodyDue, "a head came before the last body")
            bodyDue = head.upgrade == nil
            exercise(head)
        case .body(let body):
            precondition(bodyDue && body.count <= limits.bodyBytesMax, "a body without head or beyond its limit")
            bodyDue = false
        case .failed(let failure):
            precondition(index == whole.events.count - 1, "an event came after a failure")
            precondition(HTTPResponse.refusal(failure).status == failure.status, "a status was not kept")
        }
    }
    return 0
}
