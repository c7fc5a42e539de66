internal import CLinux
internal import Glibc

/// The address of a peer, as bytes; a dictionary key and what trust rules match.
public struct Address: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes for IPv4 (also IPv4 mapped into IPv6), 16 for IPv6, none for a unix socket.
    public let bytes: [UInt8]

    /// Makes an address of 0, 4 or 16 bytes; `::ffff:a.b.c.d` becomes `a.b.c.d`.
    public init(bytes: [UInt8]) {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        self.bytes = bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    /// Reads the numeric form (inet_pton(3)); `nil` for anything else.
    public init?(text: some Sequence<UInt8>) {
        let string = String(decoding: Array(text), as: UTF8.self)
        guard !string.utf8.contains(0) else { return nil }
        var storage = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, string, &storage) == 1 {
            self.init(bytes: Array(storage[..<4]))
        } else if unsafe inet_pton(AF_INET6, string, &storage) == 1 {
            self.init(bytes: storage)
        } else {
            return nil
        }
    }

    /// What counts as one client for limits: an IPv4 address, or the /64 of an IPv6 address.
    public var limitKey: [UInt8] { bytes.count == 16 ? Array(bytes[..<8]) : bytes }

    /// The numeric form; `unix` for a unix socket.
    public var description: String {
        guard !bytes.isEmpty else { return "unix" }
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe inet_ntop(family, bytes, &text, 64) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Where to listen or to connect.
public enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A numeric address and a port.
    case tcp(Address, port: UInt16)
    /// A path of a unix socket.
    case unix(path: String)

    /// `address:port` or the path.
    public var description: String {
        switch self {
        case .tcp(let address, let port) where address.bytes.count == 16: "[\(address)]:\(port)"
        case .tcp(let address, let port): "\(address):\(port)"
        case .unix(let path): path
        }
    }
}
