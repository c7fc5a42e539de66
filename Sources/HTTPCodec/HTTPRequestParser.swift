import Core

/// One result of the parser.
public enum HTTPEvent: Sendable, Equatable {
    /// A whole head, its framing decided and its handshake, if any, in order.
    case head(HTTPRequestHead)
    /// The whole body of the request of the last head; empty if it has none.
    case body([UInt8])
    /// The connection's input cannot be understood further: answer, then close.
    case failed(HTTPFailure)
}

/// Reads HTTP/1.1 requests from a connection's bytes, however they are cut, and refuses malformed ones.
///
/// Order of events: for each request one `.head`, then one `.body`; pipelined requests follow one another. A `.head`
/// with ``HTTPRequestHead/upgrade`` is the last event and the bytes after it are left in the input for the WebSocket.
/// `.failed` is the last event too. After the body of a request that is not keep-alive the rest is discarded unread.
///
/// RFC 9112 sometimes lets a server choose; the choice is then the one that no second parser can see differently. That
/// is: no lone LF or CR, no blank before a colon, no folding, no repeated framing field, no other coding than
/// `chunked`.
///
/// HTTP/1.0 is served, since health checks and nginx's defaults use it: one request per connection, `Host` optional, no
/// chunks, no 100-continue, no WebSocket. HTTP/0.9 is 400; the HTTP/2 preface and other versions are 505.
///
/// Between requests the parser holds no memory, but the head that ``keepHead()`` kept. It has no clock: its owner keeps the deadlines for head and body.
public struct HTTPRequestParser: Sendable {
    private enum State {
        case start
        case requestLine
        case headers
        case body
        case upgraded
        case closed
        case failed
    }

    private let limits: HTTPLimits
    private var state = State.start
    private var maySkipEmptyLine = true
    private var lines = HTTPLineReader()
    private var line: HTTPRequestLine?
    private var places: [HTTPHeaders.Place] = []
    private var keepAlive = true
    private var bodyReader: HTTPBodyReader?
    /// The limits of the present body; those of the connection, or smaller ones.
    private var bodyLimits: HTTPLimits
    /// The head of the present request, as long as its body is read.
    private var present: HTTPRepeatedHead?
    /// The head that is recognised when it is sent again.
    private var kept: HTTPRepeatedHead?

    /// A parser at the start of a connection.
    public init(limits: HTTPLimits) {
        self.limits = limits
        bodyLimits = limits
    }

    /// Whether a request has begun and is not finished: the connection is not idle and a deadline applies.
    public var isInsideRequest: Bool {
        switch state {
        case .start, .upgraded, .closed, .failed: false
        case .requestLine, .headers, .body: true
        }
    }

    /// Lowers the limit of the body that follows the `.head` event just read; it ends with that body.
    ///
    /// Returns the failure when the head announced more: nothing of the body is read then, and no event follows.
    public mutating func limitBody(to bytesMax: Int) -> HTTPFailure? {
        guard case .body = state else { return nil }
        bodyLimits = limits.limitingBody(to: bytesMax)
        guard let announced = bodyReader?.bytesAnnounced, announced > bytesMax else { return nil }
        reset(to: .failed)
        return .tooLarge(413, "The body must not exceed \(bytesMax) bytes")
    }

    /// Recognises the head just read when it is sent again: ``HTTPRequestHead/repeats(_:)``; in place of an earlier one.
    ///
    /// No effect on a head that is large, or that did not arrive at once.
    public mutating func keepHead() {
        if let present { kept = present }
    }

    /// Reads on from `position` to the next event.
    ///
    /// - Parameters:
    ///   - input: Bytes of the connection; those before `position` are ignored.
    ///   - position: The place to read from; moved after the bytes used. After a failure or the last request it is
    ///     moved to the end, after an upgrade it stays at the first byte of the WebSocket.
    /// - Returns: The next event, or `nil` when the input is used up or no event will ever follow.
    public mutating func next(_ input: Span<UInt8>, at position: inout Int) -> HTTPEvent? {
        guard position >= 0 && position <= input.count else { return nil }
        do throws(HTTPFailure) {
            var begin: Int?
            while true {
                switch state {
                case .start, .requestLine:
                    if state == .start {
                        if let head = repeatedHead(input, at: &position) { return .head(head) }
                        begin = position
                    }
                    guard try readRequestLine(input, at: &position) else { return nil }
                case .headers:
                    guard let done = try readHeader(input, at: &position) else { return nil }
                    if done { return .head(try finishHead(input, from: begin, to: position)) }
                case .body:
                    guard let body = try readBody(input, at: &position) else { return nil }
                    reset(to: keepAlive ? .start : .closed)
                    return .body(body)
                case .upgraded: return nil
                case .closed, .failed:
                    position = input.count
                    return nil
                }
            }
        } catch {
            reset(to: .failed)
            position = input.count
            return .failed(error)
        }
    }

    private mutating func readRequestLine(_ input: Span<UInt8>, at position: inout Int) throws(HTTPFailure) -> Bool {
        if state == .start {
            guard position < input.count else { return false }
            try checkFirstByte(input[position])
            state = .requestLine
        }
        let outcome = lines.read(
            input, at: &position, lineBytesMax: limits.requestLineBytesMax, sectionBytesMax: limits.headBytesMax)
        guard try HTTPLineReader.isComplete(outcome, .requestLine, number: 0, limits: limits) else { return false }
        if lines.line.isEmpty {
            // RFC 9112 section 2.2: some clients send an empty line after a body; one is accepted.
            guard maySkipEmptyLine else { throw .badRequest("There are empty lines before the request line") }
            maySkipEmptyLine = false
            lines.restartSection()
            state = .start
            return true
        }
        line = try HTTPRequestLine(lines.line)
        lines.keepLine()
        state = .headers
        return true
    }

    /// Detects a client of another protocol by its first byte, since its line end may never come.
    private func checkFirstByte(_ byte: UInt8) throws(HTTPFailure) {
        if byte == 0x16 { throw .badRequest("This is not HTTP; is TLS spoken to a port without TLS?") }
        guard HTTPGrammar.isTokenByte(byte) || byte == 0x0d || byte == 0x0a else {
            throw .badRequest("The request does not begin with a method")
        }
    }

    /// Reads one header line; `nil` when the input is used up, true for the empty line that ends the head.
    private mutating func readHeader(_ input: Span<UInt8>, at position: inout Int) throws(HTTPFailure) -> Bool? {
        let outcome = lines.read(
            input, at: &position, lineBytesMax: limits.headBytesMax, sectionBytesMax: limits.headBytesMax)
        let number = places.count + 1
        guard try HTTPLineReader.isComplete(outcome, .header, number: number, limits: limits) else { return nil }
        if lines.line.isEmpty { return true }
        guard number <= limits.headersMax else {
            throw .tooLarge(431, "There must not be more than \(limits.headersMax) header fields")
        }
        // Room for the usual number of fields of browsers and backends, in one allocation.
        if places.isEmpty { places.reserveCapacity(min(limits.headersMax, 16)) }
        places.append(try lines.fieldPlace(.header, number: number))
        lines.keepLine()
        return false
    }

    /// Makes the head, which begins and ends at these places of the input; `begin` is `nil` when it arrived in parts.
    private mutating func finishHead(
        _ input: Span<UInt8>, from begin: Int?, to end: Int
    ) throws(HTTPFailure) -> HTTPRequestHead {
        guard let line else { throw .badRequest("The request line is missing") }
        let headers = HTTPHeaders(bytes: lines.bytes, places: places)
        let head = try HTTPRequestHead(line: line, headers: headers, limits: limits)
        beginBody(of: head)
        if let begin {
            // The reader keeps lines without their ends, two bytes for each.
            let length = headers.place(of: "content-length").map { place in
                let ends = 2 * (place.index + 1)
                return place.value.lowerBound + ends..<place.value.upperBound + ends
            }
            present = HTTPRepeatedHead(head, received: input.extracting(begin..<end), length: length)
        }
        return head
    }

    private mutating func repeatedHead(_ input: Span<UInt8>, at position: inout Int) -> HTTPRequestHead? {
        guard let kept,
            let head = kept.repeated(in: input, at: position, bodyBytesMax: limits.bodyBytesMax)
        else { return nil }
        position += kept.count
        beginBody(of: head)
        return head
    }

    private mutating func beginBody(of head: HTTPRequestHead) {
        reset(to: head.upgrade == nil ? .body : .upgraded)
        keepAlive = head.keepAlive
        bodyReader = HTTPBodyReader(head.body)
    }

    private mutating func readBody(_ input: Span<UInt8>, at position: inout Int) throws(HTTPFailure) -> [UInt8]? {
        guard bodyReader != nil else { return [] }
        return try bodyReader?.next(input, at: &position, limits: bodyLimits)
    }

    /// Moves to a state that holds nothing of earlier input.
    private mutating func reset(to next: State) {
        state = next
        maySkipEmptyLine = true
        lines = HTTPLineReader()
        line = nil
        places = []
        bodyReader = nil
        bodyLimits = limits
        present = nil
    }
}
