import Core

/// The first line of a request: method, target, version (RFC 9112 section 3).
struct HTTPRequestLine {
    let method: HTTPMethod
    let target: HTTPTarget
    /// False for HTTP/1.0.
    let isVersion11: Bool

    /// Parses the line; the version is checked first, so that HTTP/2 receives its own status.
    init(_ line: ArraySlice<UInt8>) throws(HTTPFailure) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty else {
            throw .badRequest("The request line must be METHOD, one space, target, one space, HTTP/1.1")
        }
        isVersion11 = try HTTPRequestLine.version(parts[2])
        guard HTTPGrammar.isToken(parts[0]) else {
            throw .badRequest("The method has a character that no method may have")
        }
        guard let known = HTTPMethod(bytes: parts[0]) else {
            throw .unsupported(501, "The method is not known; methods are upper case")
        }
        method = known
        target = try HTTPTarget(parts[1], method: known)
    }

    private static func version(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> Bool {
        if bytes.elementsEqual("HTTP/1.1".utf8) { return true }
        if bytes.elementsEqual("HTTP/1.0".utf8) { return false }
        let digits = bytes.dropFirst(5)
        guard bytes.starts(with: "HTTP/".utf8), digits.count == 3,
            digits.first.map(ASCII.isDigit) == true, digits.dropFirst().first == UInt8(ascii: "."),
            digits.last.map(ASCII.isDigit) == true
        else {
            throw .badRequest("The request line must end with HTTP/1.1")
        }
        throw .unsupported(505, "Only HTTP/1.1 is spoken here; HTTP/2 and others are not")
    }
}
