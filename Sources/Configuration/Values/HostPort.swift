import Core

/// The address of a listener: a host and a port, such as `0.0.0.0:8443`, `[::]:8443`, `localhost:0`.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A host name, an IPv4 address, or an IPv6 address without brackets; ASCII.
    public let host: String
    /// The port; 0 lets the system choose a free one.
    public let port: UInt16

    /// Makes an address of valid parts.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`; IPv6 addresses must be in brackets, and the host is required.
    public init(parsing text: String) throws(ValueFault) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
            throw ValueFault(expected: "HOST:PORT, e.g. 0.0.0.0:8443")
        }
        let hostBytes = bytes[..<colon]
        guard let number = ASCII.decimal(bytes[(colon + 1)...]), let port = UInt16(exactly: number) else {
            throw ValueFault(expected: "HOST:PORT with a port from 0 to 65535")
        }
        guard !hostBytes.isEmpty else {
            throw ValueFault(expected: "HOST:PORT; for every address write 0.0.0.0:\(port) or [::]:\(port)")
        }
        self.host = try HostPort.host(hostBytes)
        self.port = port
    }

    /// Whether the host is an IPv6 address, which is written in brackets.
    public var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// The text in the form that ``init(parsing:)`` reads.
    public var description: String { (isIPv6 ? "[" + host + "]" : host) + ":\(port)" }

    private static func host(_ bytes: ArraySlice<UInt8>) throws(ValueFault) -> String {
        if bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]") {
            let inner = bytes.dropFirst().dropLast()
            guard IPAddress(version6: inner) != nil else {
                throw ValueFault(expected: "an IPv6 address in the brackets")
            }
            return String(decoding: inner, as: UTF8.self)
        }
        if bytes.contains(UInt8(ascii: ":")) {
            throw ValueFault(expected: "HOST:PORT with an IPv6 address in brackets, e.g. [::1]:8443")
        }
        guard isHost(bytes) else { throw ValueFault(expected: "HOST:PORT with a host name or address") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the bytes are an IPv4 address or a host name of letters, digits, dots and hyphens (RFC 1123 section
    /// 2.1).
    ///
    /// A name whose last label is all digits must be an IPv4 address.
    static func isHost(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        if IPAddress(version4: bytes) != nil { return true }
        guard bytes.count <= 253 else { return false }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let good = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
        }
        return good && !(labels.last?.allSatisfy { ASCII.isDigit($0) } ?? true)
    }
}
