import Core

/// The check of addresses outside that receive requests with secrets.
enum OutsideURL {
    /// The URL without a slash at its end.
    ///
    /// It must be `https://`, since another server's answer must not pass for the service's; on this machine it may be
    /// `http://`. It has no user, no query and no fragment.
    static func checked(_ text: String) throws(ValueFault) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count <= 2_048, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw ValueFault(expected: "a URL of at most 2048 printable characters")
        }
        let isPlain = text.hasPrefix("http://")
        guard isPlain || text.hasPrefix("https://") else {
            throw ValueFault(expected: "a URL that begins with https://")
        }
        let rest = bytes.dropFirst(isPlain ? 7 : 8)
        guard !rest.contains(UInt8(ascii: "@")), !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#"))
        else { throw ValueFault(expected: "a URL without user, query or fragment") }
        let authority = Array(rest.prefix { $0 != UInt8(ascii: "/") })
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? -1
        let hasPort = (authority.lastIndex(of: UInt8(ascii: ":")) ?? -1) > bracket
        let host = try HostPort(parsing: String(decoding: authority, as: UTF8.self) + (hasPort ? "" : ":443")).host
        if isPlain, !["127.0.0.1", "::1", "[::1]", "localhost"].contains(host) {
            throw ValueFault(expected: "https://, since what goes there is secret; http:// is for this machine alone")
        }
        return bytes.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
    }
}
