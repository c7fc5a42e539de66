import Core

/// Gathers one body, by its length or from chunks (RFC 9112 sections 6.2 and 7.1).
///
/// Memory follows the bytes that have arrived, never a length that was only announced. Chunk extensions are checked
/// and ignored, trailers are checked and discarded; both are bounded by ``HTTPLimits/headBytesMax``.
struct HTTPBodyReader: Sendable {
    private enum State {
        case length(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkCR
        case chunkLF
        case trailer
    }

    /// Bytes of one chunk size line; sizes have a few digits and extensions are practically unused.
    private static let sizeLineBytesMax = 256
    /// Hexadecimal digits of a chunk size; an `Int` has no more.
    private static let sizeDigitsMax = 16

    private var state: State
    private var lines = HTTPLineReader()
    private var extensionBytes = 0
    private var trailerFields = 0
    private var body: [UInt8] = []

    /// A reader at the start of a body; `nil` when there is none.
    init?(_ framing: HTTPBodyFraming) {
        switch framing {
        case .none: return nil
        case .length(let count): state = .length(remaining: count)
        case .chunked: state = .chunkSize
        }
    }

    /// The bytes announced by `Content-Length` that were not received yet; `nil` for chunks.
    var bytesAnnounced: Int? {
        if case .length(let remaining) = state { return remaining }
        return nil
    }

    /// Reads on; returns the body with its last byte, `nil` when the input is used up before.
    mutating func next(
        _ input: Span<UInt8>, at position: inout Int, limits: HTTPLimits
    ) throws(HTTPFailure) -> [UInt8]? {
        while true {
            switch state {
            case .length(let remaining):
                let due = take(input, at: &position, remaining: remaining)
                state = .length(remaining: due)
                return due == 0 ? body : nil
            case .chunkSize:
                let outcome = lines.read(
                    input, at: &position, lineBytesMax: HTTPBodyReader.sizeLineBytesMax, sectionBytesMax: .max)
                guard try HTTPLineReader.isComplete(outcome, .chunk, number: 0, limits: limits) else { return nil }
                let size = try chunkSize(limits)
                lines.dropLine()
                if size == 0 { lines.restartSection() }
                state = size == 0 ? .trailer : .chunk(remaining: size)
            case .chunk(let remaining):
                let due = take(input, at: &position, remaining: remaining)
                state = due == 0 ? .chunkCR : .chunk(remaining: due)
                if due > 0 { return nil }
            case .chunkCR:
                guard try takeByte(0x0d, input, at: &position) else { return nil }
                state = .chunkLF
            case .chunkLF:
                guard try takeByte(0x0a, input, at: &position) else { return nil }
                state = .chunkSize
            case .trailer:
                guard let isLast = try trailerLine(input, at: &position, limits: limits) else { return nil }
                if isLast { return body }
            }
        }
    }

    private mutating func take(_ input: Span<UInt8>, at position: inout Int, remaining: Int) -> Int {
        let count = min(remaining, input.count - position)
        body.append(input, position..<position + count)
        position += count
        return remaining - count
    }

    private func takeByte(_ byte: UInt8, _ input: Span<UInt8>, at position: inout Int) throws(HTTPFailure) -> Bool {
        guard position < input.count else { return false }
        guard input[position] == byte else {
            throw .badRequest("A chunk is longer than its size says, or does not end with CR LF")
        }
        position += 1
        return true
    }

    /// Reads the size and checks the rest of its line: nothing, or an extension that begins right away with a
    /// semicolon.
    private mutating func chunkSize(_ limits: HTTPLimits) throws(HTTPFailure) -> Int {
        let digits = lines.line.prefix { ASCII.hexValue($0) != nil }
        let rest = lines.line[digits.endIndex...]
        guard !digits.isEmpty, digits.count <= HTTPBodyReader.sizeDigitsMax,
            rest.isEmpty || rest.first == UInt8(ascii: ";")
        else {
            throw .badRequest("A chunk size must be 1 to \(HTTPBodyReader.sizeDigitsMax) hexadecimal digits")
        }
        extensionBytes += rest.count
        guard extensionBytes <= limits.headBytesMax else {
            throw .tooLarge(431, "The chunk extensions must not exceed \(limits.headBytesMax) bytes")
        }
        var size: UInt64 = 0
        for digit in digits { size = size << 4 | UInt64(ASCII.hexValue(digit) ?? 0) }
        guard let exact = Int(exactly: size), exact <= limits.bodyBytesMax - body.count else {
            throw .tooLarge(413, "The body must not exceed \(limits.bodyBytesMax) bytes")
        }
        return exact
    }

    /// Reads one trailer line; `nil` when the input is used up, true for the empty line that ends the body.
    private mutating func trailerLine(
        _ input: Span<UInt8>, at position: inout Int, limits: HTTPLimits
    ) throws(HTTPFailure) -> Bool? {
        let sectionBytesMax = limits.headBytesMax - extensionBytes
        let outcome = lines.read(
            input, at: &position, lineBytesMax: limits.headBytesMax, sectionBytesMax: sectionBytesMax)
        let number = trailerFields + 1
        guard try HTTPLineReader.isComplete(outcome, .trailer, number: number, limits: limits) else { return nil }
        if lines.line.isEmpty { return true }
        guard number <= limits.headersMax else {
            throw .tooLarge(431, "There must not be more than \(limits.headersMax) trailer fields")
        }
        _ = try lines.fieldPlace(.trailer, number: number)
        trailerFields = number
        lines.dropLine()
        return false
    }
}
