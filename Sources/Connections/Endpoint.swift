public import Core

/// An address to listen at or to connect to.
public enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A numeric address and a port.
    case tcp(IPAddress, port: UInt16)
    /// A path of a unix socket.
    case unix(path: String)

    /// `address:port` or the path.
    public var description: String {
        switch self {
        case .tcp(let address, let port): address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
        case .unix(let path): path
        }
    }
}
