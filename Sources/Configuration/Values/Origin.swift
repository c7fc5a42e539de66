import Core

/// The origin of a web page as browsers send it (RFC 6454 section 6.1), such as `https://shop.example`.
enum Origin {
    /// Checks that a text is `*`, for every origin, or that a browser could send exactly this text.
    ///
    /// An origin that is slightly different would never match.
    static func check(_ text: String) throws(ValueFault) {
        if text == "*" { return }
        let form = ValueFault(expected: "one exact origin, e.g. https://shop.example or https://shop.example:8443")
        let bytes = Array(text.utf8)
        guard let schemeEnd = bytes.firstIndex(of: UInt8(ascii: ":")), schemeEnd > 0,
            bytes[schemeEnd...].starts(with: Array("://".utf8))
        else { throw form }
        if bytes.contains(where: ASCII.isUpper) { throw ValueFault(expected: "an origin in lower case") }
        let scheme = bytes[..<schemeEnd]
        guard scheme.allSatisfy({ ASCII.isLower($0) || ASCII.isDigit($0) || [0x2b, 0x2d, 0x2e].contains($0) }),
            ASCII.isLower(scheme[0])
        else { throw form }
        var authority = bytes[(schemeEnd + 3)...]
        if authority.contains(UInt8(ascii: "/")) {
            throw ValueFault(expected: "an origin without a path or a slash at its end")
        }
        let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), colon > bracket ?? -1 {
            guard let port = ASCII.decimal(authority[(colon + 1)...]), (1...65_535).contains(port) else { throw form }
            let isDefault =
                (port == 443 && scheme == Array("https".utf8)[...]) || (port == 80 && text.hasPrefix("http:"))
            if isDefault {
                throw ValueFault(expected: "an origin without its scheme's own port \(port), which browsers leave out")
            }
            authority = authority[..<colon]
        }
        if authority.first == UInt8(ascii: "[") && authority.last == UInt8(ascii: "]") {
            guard IPAddress(version6: authority.dropFirst().dropLast()) != nil else { throw form }
        } else {
            guard HostPort.isHost(authority) else { throw form }
        }
    }
}
