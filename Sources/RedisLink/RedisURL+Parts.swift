import Core

/// The parts of a URL.
extension RedisURL {
    /// Splits `user:password@` from the text before the path.
    static func credentials(
        _ text: ArraySlice<UInt8>
    ) throws(RedisURLError) -> (user: [UInt8]?, password: [UInt8]?, rest: ArraySlice<UInt8>) {
        guard let at = text.lastIndex(of: UInt8(ascii: "@")) else { return (nil, nil, text) }
        let given = text[..<at]
        // An `@` inside the password must be encoded; otherwise the beginning of the host is ambiguous.
        guard !given.contains(UInt8(ascii: "@")) else { throw .character }
        guard let colon = given.firstIndex(of: UInt8(ascii: ":")) else { throw .credentials }
        let name = try RedisURL.decode(given[..<colon])
        let secret = try RedisURL.decode(given[(colon + 1)...])
        guard !secret.isEmpty else { throw .credentials }
        return (name.isEmpty ? nil : name, secret, text[(at + 1)...])
    }

    /// The text behind a scheme, whose case is ignored; `nil` when the text has another scheme.
    static func rest(_ bytes: [UInt8], after scheme: String) -> ArraySlice<UInt8>? {
        guard ASCII.equalIgnoringCase(bytes.prefix(scheme.utf8.count), Array(scheme.utf8)) else { return nil }
        return bytes.dropFirst(scheme.utf8.count)
    }

    /// Reads `host[:port]`, the host without its brackets.
    static func address(
        _ authority: ArraySlice<UInt8>, portDefault: Int
    ) throws(RedisURLError) -> (host: String, port: Int) {
        var host = authority
        var port: ArraySlice<UInt8>?
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            host = authority[(authority.startIndex + 1)..<close]
            let after = authority[(close + 1)...]
            guard after.isEmpty || after.first == UInt8(ascii: ":") else { throw .host }
            port = after.isEmpty ? nil : after.dropFirst()
            let valid = host.allSatisfy { ASCII.hexValue($0) != nil || $0 == 0x3a || $0 == 0x2e }
            guard valid, host.contains(0x3a), host.count <= 45 else { throw .host }
        } else {
            if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
                host = authority[..<colon]
                port = authority[(colon + 1)...]
            }
            let valid = host.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == 0x2e || $0 == 0x5f
            }
            guard valid, !host.isEmpty, host.count <= 253, host.first != 0x2d, host.first != 0x2e else { throw .host }
        }
        let number = try port.map { text throws(RedisURLError) in try RedisURL.number(text, 1...numberMax, else: .port)
        }
        return (String(decoding: host, as: UTF8.self), number ?? portDefault)
    }

    /// Reads a decimal number in a range.
    static func number(
        _ text: ArraySlice<UInt8>, _ range: ClosedRange<Int>, else error: RedisURLError
    ) throws(RedisURLError) -> Int {
        guard let value = ASCII.decimal(text), range.contains(value) else { throw error }
        return value
    }

    /// Decodes the percent-encoding; an encoded NUL is an error.
    static func decode(_ text: ArraySlice<UInt8>) throws(RedisURLError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(ASCII.hexValue), let low = rest.popFirst().flatMap(ASCII.hexValue),
                high << 4 | low != 0
            else { throw .percent }
            result.append(high << 4 | low)
        }
        return result
    }
}
