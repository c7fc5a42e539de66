import Core

/// Byte classes of RFC 9110 section 5.6 and RFC 3986, stricter where tolerance has been a vulnerability elsewhere.
enum HTTPGrammar {
    /// `tchar` of RFC 9110 section 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e...0x60, 0x7c, 0x7e: true
        default: false
        }
    }

    /// Whether the bytes are one token: not empty and `tchar` throughout.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
    }

    /// Whether a byte is allowed inside a line: all but control bytes; HTAB and bytes from 0x80 up are allowed.
    static func isLineByte(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7f) || byte == 0x09
    }

    /// SP or HTAB.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The bytes without blanks at either end (OWS, RFC 9110 section 5.6.3).
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    /// Whether a byte is allowed in a request target.
    ///
    /// All of RFC 3986's characters, and those that browsers leave raw in a query (WHATWG URL): `| ^ { } [ ]` and the
    /// backtick. Never blanks, bytes from 0x80 up, `#` (a fragment is not sent) or the quotes `" < >`.
    static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"): false
        case 0x21...0x7e: true
        default: false
        }
    }

    /// Whether the bytes are a host name, IPv4 address or bracketed IPv6 address, with or without a port.
    ///
    /// Narrower than RFC 3986 `reg-name`: no percent-encoding, no sub-delimiters, no user information. The underscore
    /// is allowed, since container networks and nginx upstream names use it.
    static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[rest.startIndex..<end].dropFirst()
            let isAddress = address.allSatisfy {
                ASCII.hexValue($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            guard address.count >= 2, isAddress else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            let name = rest.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.allSatisfy(isHostByte) else { return false }
            rest = rest[name.endIndex...]
        }
        guard let colon = rest.popFirst() else { return true }
        guard colon == UInt8(ascii: ":"), let port = ASCII.decimal(rest) else { return false }
        return port <= 65_535
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_")
    }

    /// Decodes percent escapes; `nil` when a `%` is not followed by two hexadecimal digits.
    ///
    /// - Parameter plusIsSpace: Whether `+` stands for a space, as in a query made by a form or `URLSearchParams`.
    static func percentDecoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(ASCII.hexValue),
                    let low = rest.popFirst().flatMap(ASCII.hexValue)
                else { return nil }
                result.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: result.append(0x20)
            default: result.append(byte)
            }
        }
        return result
    }
}
