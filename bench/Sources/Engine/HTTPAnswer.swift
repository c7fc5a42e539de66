import Core

/// The responses of an HTTP server, one at a time: status and body, with `Content-Length` (RFC 9112 section 6).
///
/// Parsed in place, byte by byte: the publisher shares its core with the measured clients.
struct HTTPAnswer {
    enum Step: Equatable {
        case more
        case whole(status: Int, body: [UInt8])
        case failed
    }

    private var bytes: [UInt8] = []
    private static let bytesMax = 1 << 20
    private static let version = Array("HTTP/1.1 ".utf8)
    private static let headEnd = UInt32(0x0d0a_0d0a)

    /// Takes bytes; they must belong to one response.
    mutating func take(_ chunk: Span<UInt8>) -> Step {
        guard bytes.count + chunk.count <= HTTPAnswer.bytesMax else { return .failed }
        bytes.append(addingCapacity: chunk.count) { output in
            for index in 0..<chunk.count { output.append(chunk[index]) }
        }
        guard let bodyStart = HTTPAnswer.bodyStart(bytes.span) else { return .more }
        guard let status = HTTPAnswer.status(bytes[..<bodyStart]),
            let length = HTTPAnswer.bodyBytes(bytes[..<bodyStart])
        else { return .failed }
        guard bytes.count >= bodyStart + length else { return .more }
        guard bytes.count == bodyStart + length else { return .failed }
        let body = Array(bytes[bodyStart...])
        bytes.removeAll(keepingCapacity: true)
        return .whole(status: status, body: body)
    }

    /// The index after the empty line that ends the head; `nil` before it has been received.
    private static func bodyStart(_ bytes: Span<UInt8>) -> Int? {
        var last: UInt32 = 0
        for index in 0..<bytes.count {
            last = last &<< 8 | UInt32(bytes[index])
            if last == headEnd { return index + 1 }
        }
        return nil
    }

    private static func status(_ head: ArraySlice<UInt8>) -> Int? {
        guard head.starts(with: version) else { return nil }
        return ASCII.decimal(head.dropFirst(version.count).prefix(3))
    }

    /// The value of `Content-Length`, 0 without one; `nil` when the end of the body is unknown.
    private static func bodyBytes(_ head: ArraySlice<UInt8>) -> Int? {
        var length = 0
        var rest = head
        while let lineEnd = rest.firstIndex(of: 0x0a) {
            let line = rest[..<lineEnd]
            rest = rest[(lineEnd + 1)...]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = line[..<colon]
            if ASCII.equalIgnoringCase(name, "content-length".utf8) {
                // Blanks around the value and the CR do not belong to it.
                let isPart: (UInt8) -> Bool = { $0 > 0x20 }
                let value = line[(colon + 1)...].drop { !isPart($0) }
                guard let number = ASCII.decimal(value.prefix(while: isPart)), number <= bytesMax else { return nil }
                length = number
            } else if ASCII.equalIgnoringCase(name, "transfer-encoding".utf8) {
                return nil
            }
        }
        return length
    }
}
