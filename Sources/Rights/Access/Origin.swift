import Core

/// A serialised origin (RFC 6454 section 6.2): `scheme://host[:port]` and nothing else.
struct Origin: Hashable, Sendable {
    let scheme: [UInt8]
    let host: [UInt8]
    /// The port, or the scheme's default; 0 for a scheme without one.
    let port: Int

    static let bytesMax = 512

    /// Reads an origin; `nil` for a malformed one.
    ///
    /// That is one with a path, user, query, white space, empty label, trailing dot, or byte out of ASCII. Upper case
    /// is refused, since browsers serialise in lower case, except in the host when folding.
    init?(_ bytes: [UInt8], foldingHost: Bool) {
        guard bytes.count <= Origin.bytesMax else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = bytes[..<colon]
        let rest = bytes[colon...]
        let separator = Array("://".utf8)
        guard Origin.isScheme(scheme), rest.starts(with: separator) else { return nil }
        var authority = Array(rest.dropFirst(separator.count))
        if foldingHost { authority = authority.map(ASCII.lowercased) }
        guard let (host, port) = Origin.authority(authority) else { return nil }
        self.scheme = Array(scheme)
        self.host = host
        self.port = port ?? Origin.defaultPort(of: self.scheme) ?? 0
    }

    /// The port that a scheme implies; `nil` for schemes other than the web's.
    static func defaultPort(of scheme: [UInt8]) -> Int? {
        if scheme.elementsEqual("https".utf8) || scheme.elementsEqual("wss".utf8) { return 443 }
        if scheme.elementsEqual("http".utf8) || scheme.elementsEqual("ws".utf8) { return 80 }
        return nil
    }

    /// Reads `host[:port]`, lower case: DNS labels or a bracketed IPv6 address.
    static func authority(_ bytes: [UInt8]) -> (host: [UInt8], port: Int?)? {
        var host = bytes[...]
        var port: Int?
        let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
        if let colon, bytes.last != UInt8(ascii: "]") {
            guard let number = ASCII.decimal(bytes[(colon + 1)...]), (1...65_535).contains(number) else { return nil }
            port = number
            host = bytes[..<colon]
        }
        guard isHost(host) else { return nil }
        return (Array(host), port)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, ASCII.isLower(first), bytes.count <= 32 else { return false }
        return bytes.allSatisfy {
            ASCII.isLower($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "+") || $0 == 0x2d || $0 == 0x2e
        }
    }

    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard !host.isEmpty, host.count <= 253 else { return false }
        if host.first == UInt8(ascii: "[") {
            guard host.last == UInt8(ascii: "]"), host.count > 2 else { return false }
            let inner = host.dropFirst().dropLast()
            return IPAddress(version6: inner) != nil
        }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { ASCII.isLower($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == UInt8(ascii: "_") }
        }
    }
}
