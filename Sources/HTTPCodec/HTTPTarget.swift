import Core

/// The parts of the request target (RFC 9112 section 3.2).
struct HTTPTarget {
    let path: [UInt8]
    let query: [UInt8]
    /// The host and port of an absolute-form target; they must be those of the `Host` field.
    let authority: [UInt8]?

    /// Parses origin-form, absolute-form of `http` and `https`, and `*` for OPTIONS.
    ///
    /// RFC 9112 section 3.2.2 obliges a server to accept the absolute form. It is safe since the host it names must
    /// equal the `Host` field: no two parties can disagree on it.
    init(_ bytes: ArraySlice<UInt8>, method: HTTPMethod) throws(HTTPFailure) {
        guard bytes.allSatisfy(HTTPGrammar.isTargetByte) else {
            throw .badRequest("The request target has a character that must be percent-encoded")
        }
        if bytes.elementsEqual("*".utf8) {
            guard method == .options else { throw .badRequest("The target * is for OPTIONS only") }
            (path, query, authority) = (Array(bytes), [], nil)
            return
        }
        var rest = bytes
        if let afterScheme = HTTPTarget.afterScheme(bytes) {
            let end = afterScheme.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
            let host = afterScheme[..<(end ?? afterScheme.endIndex)]
            guard HTTPGrammar.isHost(host) else { throw .badRequest("The host in the request target is malformed") }
            authority = Array(host)
            rest = afterScheme[host.endIndex...]
        } else {
            guard bytes.first == UInt8(ascii: "/") else {
                throw .badRequest("The request target must be a path that begins with /")
            }
            authority = nil
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        let rawPath = rest[..<(mark ?? rest.endIndex)]
        guard !rawPath.contains(UInt8(ascii: "\\")) else {
            throw .badRequest("The path has a backslash; it must be percent-encoded")
        }
        path = rawPath.isEmpty ? [UInt8(ascii: "/")] : Array(rawPath)
        query = mark.map { Array(rest[rest.index(after: $0)...]) } ?? []
    }

    private static func afterScheme(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for scheme in ["http://", "https://"]
        where ASCII.equalIgnoringCase(bytes.prefix(scheme.utf8.count), scheme.utf8) {
            return bytes.dropFirst(scheme.utf8.count)
        }
        return nil
    }
}
