import Core

/// The checks of URLs among the settings, and the masking of their secrets.
enum SettingURL {
    /// Checks the scheme, and that text follows it; the target that connects reads the rest.
    static func check(_ text: String, schemes: [String]) throws(ValueFault) {
        let fault = ValueFault(expected: "a URL that begins with " + schemes.map { $0 + "://" }.joined(separator: ", "))
        guard schemes.contains(where: { text.hasPrefix($0 + "://") && text.utf8.count > $0.utf8.count + 3 }) else {
            throw fault
        }
        if text.utf8.contains(UInt8(ascii: " ")) { throw ValueFault(expected: "a URL without spaces") }
    }

    /// The layout of keys at the Redis of a URL: the chosen one, unless its scheme needs tagged names.
    static func layout(at text: String, _ chosen: KeyLayout) -> KeyLayout {
        let isTagged = ["redis+cluster://", "rediss+cluster://"].contains { scheme in
            ASCII.equalIgnoringCase(Array(text.utf8.prefix(scheme.utf8.count)), Array(scheme.utf8))
        }
        return isTagged ? .tagged : chosen
    }

    /// Checks the address of a gateway: scheme, host and port only.
    ///
    /// It refuses a user or password: keys are kept in files, never on a command line that any process may read.
    static func checkBase(_ text: String, schemes: [String]) throws(ValueFault) {
        try check(text, schemes: schemes)
        var rest = Array(text.utf8)
        if rest.contains(UInt8(ascii: "@")) { throw ValueFault(expected: "a URL without user or password") }
        while let byte = rest.first, byte != UInt8(ascii: "/") { rest.removeFirst() }
        rest.removeFirst(min(2, rest.count))
        if rest.last == UInt8(ascii: "/") { rest.removeLast() }
        let form = ValueFault(expected: "scheme, host and port only, e.g. https://gateway.example:8443")
        guard !rest.contains(UInt8(ascii: "/")), !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#"))
        else { throw form }
        let bracket = rest.lastIndex(of: UInt8(ascii: "]")) ?? -1
        let hasPort = (rest.lastIndex(of: UInt8(ascii: ":")) ?? -1) > bracket
        do throws(ValueFault) {
            _ = try HostPort(parsing: String(decoding: rest, as: UTF8.self) + (hasPort ? "" : ":443"))
        } catch {
            throw form
        }
    }

    /// The URL with password and query replaced by `***`.
    ///
    /// A lone user part is masked as well, since some operators write the password there. When an `@` after a `?` makes
    /// the end of the password ambiguous, all text behind the scheme is masked.
    static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: Array("://".utf8))
        else {
            return "***"
        }
        let scheme = String(decoding: bytes[..<(colon + 3)], as: UTF8.self)
        let rest = bytes[(colon + 3)...]
        let query = rest.firstIndex(of: UInt8(ascii: "?"))
        let at = rest.lastIndex(of: UInt8(ascii: "@"))
        if let at, let query, query < at { return scheme + "***" }
        var place = rest
        var user = ""
        if let at {
            let userInfo = rest[..<at]
            let name = userInfo.firstIndex(of: UInt8(ascii: ":")).map {
                String(decoding: userInfo[..<$0], as: UTF8.self)
            }
            user = (name.map { $0 + ":" } ?? "") + "***@"
            place = rest[(at + 1)...]
        }
        if let query { place = place[..<query] }
        return scheme + user + String(decoding: place, as: UTF8.self) + (query == nil ? "" : "?***")
    }
}
