import Core
import HTTPCodec
import Testing

/// The limits of production.
let standardLimits = HTTPLimits(Limits())

/// A request of lines and a body.
func request(_ lines: String..., body: String = "") -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
}

/// A GET with the given header lines after `Host`.
func get(_ headers: String..., path: String = "/") -> [UInt8] {
    Array((["GET \(path) HTTP/1.1", "Host: example.com"] + headers + ["", ""]).joined(separator: "\r\n").utf8)
}

/// A POST with the given header lines after `Host`.
func post(_ headers: String..., body: String) -> [UInt8] {
    Array((["POST /x HTTP/1.1", "Host: example.com"] + headers + ["", ""]).joined(separator: "\r\n").utf8)
        + Array(body.utf8)
}

/// A well-formed WebSocket request with the given lines instead of, or after, its own.
func webSocket(
    line: String = "GET /socket HTTP/1.1", upgrade: String? = "Upgrade: websocket",
    connection: String? = "Connection: keep-alive, Upgrade", version: String? = "Sec-WebSocket-Version: 13",
    key: String? = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", more: String..., rest: String = ""
) -> [UInt8] {
    let lines = [line, "Host: example.com", upgrade, connection, version, key].compactMap { $0 } + more
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + rest).utf8)
}

/// What a parser made of an input.
struct Transcript: Equatable {
    var events: [HTTPEvent] = []
    /// What was left in the input after an upgrade.
    var remainder: [UInt8] = []

    /// Feeds the input cut before each of the given indices, which ascend.
    init(_ input: [UInt8], cuts: [Int], limits: HTTPLimits = standardLimits) {
        var parser = HTTPRequestParser(limits: limits)
        var start = 0
        for end in cuts + [input.count] {
            let piece = Array(input[start..<end])
            start = end
            var position = 0
            while let event = parser.next(piece.span, at: &position) { events.append(event) }
            remainder += piece[position...]
        }
    }

    /// Feeds the input whole.
    init(_ input: [UInt8], limits: HTTPLimits = standardLimits) {
        self.init(input, cuts: [], limits: limits)
    }

    var heads: [HTTPRequestHead] {
        events.compactMap { if case .head(let head) = $0 { head } else { nil } }
    }

    var bodies: [String] {
        events.compactMap { if case .body(let body) = $0 { String(decoding: body, as: UTF8.self) } else { nil } }
    }

    var failure: HTTPFailure? {
        if case .failed(let failure) = events.last { failure } else { nil }
    }
}

/// The head of an input that is one good request.
func head(_ input: [UInt8]) throws -> HTTPRequestHead {
    try #require(Transcript(input).heads.first)
}

/// A named input and what must become of it.
struct Refused: CustomTestStringConvertible, Sendable {
    let name: String
    let input: [UInt8]
    let status: Int
    /// A part of the message, so that the right rule is known to have refused.
    let says: String
    /// Requests that are complete before the refusal.
    let headsBefore: Int

    init(_ name: String, _ status: Int, _ says: String, _ input: [UInt8], headsBefore: Int = 0) {
        self.name = name
        self.input = input
        self.status = status
        self.says = says
        self.headsBefore = headsBefore
    }

    init(_ name: String, _ status: Int, _ says: String, raw: String, headsBefore: Int = 0) {
        self.init(name, status, says, Array(raw.utf8), headsBefore: headsBefore)
    }

    var testDescription: String { name }
}
