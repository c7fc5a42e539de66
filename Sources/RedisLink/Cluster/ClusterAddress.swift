import Core

/// Where a node of a cluster says that clients reach it.
public struct ClusterAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, without brackets; empty where the node does not know its own.
    ///
    /// Then it is reached where it was asked.
    public let host: String
    /// 1...65535.
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

    /// The same with the host that was asked, where the node does not know its own.
    public func asked(at host: String) -> ClusterAddress {
        self.host.isEmpty ? ClusterAddress(host: host, port: port) : self
    }

    /// `host:port`, for logs and metrics.
    public var description: String { (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(port)" }

    /// What names and addresses consist of (RFC 952, RFC 4291 section 2.2).
    static func isHostByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || [0x2d, 0x2e, 0x5f, 0x3a].contains(byte)
    }

    /// A host name's 253 bytes, a colon and a port.
    private static let bytesMax = 260
}
