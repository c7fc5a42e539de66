import Core

/// The head of a server's answer: status and fields (RFC 9112 sections 4 and 5), read strictly.
struct WebSocketAnswerHead {
    /// The status code, 100...999.
    let status: Int
    /// Bytes of the head, the empty line included.
    let count: Int

    private let fields: [(name: [UInt8], value: [UInt8])]

    /// Reads a head; `nil` while it is incomplete and may still become one of at most `bytesMax` bytes.
    init?(_ received: [UInt8], bytesMax: Int) throws(WebSocketClientHandshake.AnswerFailure) {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var end: Int?
        for (index, byte) in received.enumerated().prefix(max(0, bytesMax)) where byte == UInt8(ascii: "\n") {
            guard index > start, received[index - 1] == UInt8(ascii: "\r") else { throw .malformedField }
            let line = received[start..<(index - 1)]
            start = index + 1
            if line.isEmpty {
                end = start
                break
            }
            lines.append(line)
        }
        guard let end else {
            if received.count >= bytesMax { throw .headTooLong }
            return nil
        }
        guard let status = lines.first.flatMap(Self.status) else { throw .notHTTP }
        var fields: [(name: [UInt8], value: [UInt8])] = []
        for line in lines.dropFirst() {
            guard let field = Self.field(line) else { throw .malformedField }
            fields.append(field)
        }
        self.status = status
        self.fields = fields
        count = end
    }

    /// The values of all lines of a name given in lower case.
    func values(_ name: StaticString) -> [[UInt8]] {
        let name = FieldText.bytes(name)
        return fields.filter { $0.name == name }.map(\.value)
    }

    /// `HTTP/1.1 101 Switching Protocols` to 101; the reason may be empty or missing.
    private static func status(_ line: ArraySlice<UInt8>) -> Int? {
        let rest = line.dropFirst(FieldText.bytes("HTTP/1.1 ").count)
        guard let code = ASCII.decimal(rest.prefix(3)), code >= 100 else { return nil }
        guard rest.count == 3 || rest.dropFirst(3).first == UInt8(ascii: " ") else { return nil }
        return code
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8])? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        guard FieldText.isToken(name), !line.contains(0), !line.contains(UInt8(ascii: "\r")) else { return nil }
        return (name.map(ASCII.lowercased), Array(FieldText.trimmed(line[line.index(after: colon)...])))
    }
}
