import Core

/// The address at which clients reach a node, as the node or another reports it.
public struct ClusterAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, without brackets; empty when the node does not know its own.
    ///
    /// An empty host stands for the host at which the node was asked.
    public let host: String
    /// The port, 1...65535.
    public let port: Int

    /// Makes an address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port`, `:port` or `2001:db8::1:6379`: the last colon ends the host; `nil` when it is none of these.
    public init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        guard bytes.count <= ClusterAddress.bytesMax, let colon = bytes.lastIndex(of: UInt8(ascii: ":")),
            let port = ASCII.decimal(bytes[(colon + 1)...]), (1...65_535).contains(port)
        else { return nil }
        var host = bytes[..<colon]
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") { host = host.dropFirst().dropLast() }
        if host.elementsEqual("?".utf8) { host = [] }
        guard host.allSatisfy(ClusterAddress.isHostByte) else { return nil }
        self.init(host: String(decoding: host, as: UTF8.self), port: port)
    }

    /// The same address, with the host that was asked when the node does not know its own.
    public func asked(at host: String) -> ClusterAddress {
        self.host.isEmpty ? ClusterAddress(host: host, port: port) : self
    }

    /// `host:port`, for logs and metrics.
    public var description: String { (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(port)" }

    /// Whether names and addresses may contain the byte (RFC 952, RFC 4291 section 2.2).
    static func isHostByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || [0x2d, 0x2e, 0x5f, 0x3a].contains(byte)
    }

    /// A host name's 253 bytes, a colon and a port.
    private static let bytesMax = 260
}
