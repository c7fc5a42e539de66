internal import CLinux
public import Core
internal import Glibc
public import Reactors

/// An accepted connection, and its peer.
public struct Accepted: ~Copyable {
    let descriptor: FileDescriptor
    /// The peer's address; `nil` when it connected through a unix socket.
    let address: IPAddress?
}

/// The socket system calls, typed.
///
/// Every descriptor is non-blocking and closed on exec.
public enum Sockets {
    /// Binds and listens; an address at which another socket listens is refused.
    public static func listen(_ endpoint: Endpoint, backlog: Int32) throws(Errno) -> FileDescriptor {
        let descriptor = try bound(to: endpoint, isShared: false)
        try listen(on: descriptor.raw, backlog: backlog)
        return descriptor
    }

    /// Makes a socket bound to that address, which does not listen yet; `isShared` as in ``share(_:)``.
    ///
    /// Accepted connections inherit its options on Linux: three system calls less for each.
    public static func bound(to endpoint: Endpoint, isShared: Bool) throws(Errno) -> FileDescriptor {
        let descriptor = try open(endpoint)
        set(descriptor.raw, SOL_SOCKET, SO_REUSEADDR, 1)
        if isShared { share(descriptor.raw) }
        if case .tcp = endpoint { tune(descriptor.raw) }
        let raw = descriptor.raw
        _ = try unsafe withSocketAddress(endpoint) { address, length throws(Errno) in
            try retrying { unsafe bind(raw, address, length) }
        }
        return descriptor
    }

    /// Begins to listen; the kernel checks again whether another socket listens there.
    public static func listen(on raw: Int32, backlog: Int32) throws(Errno) {
        _ = try retrying { Glibc.listen(raw, backlog) }
    }

    /// Lets other sockets of the same user share the address, if they set the option too (SO_REUSEPORT, socket(7)).
    public static func share(_ raw: Int32) {
        set(raw, SOL_SOCKET, SO_REUSEPORT, 1)
    }

    /// Starts a connect; it has succeeded when the descriptor becomes writable and ``pendingError(_:)`` is `nil`.
    ///
    /// From `source`, when one is given; its port is chosen at the connect, so that one address serves as many
    /// connections to each server as there are ports (IP_BIND_ADDRESS_NO_PORT, ip(7)). The last descriptors are left to
    /// operators (``DescriptorReserve/links``).
    public static func connect(_ endpoint: Endpoint, from source: IPAddress? = nil) throws(Errno) -> FileDescriptor {
        let descriptor = try DescriptorReserve.unreserved(try open(endpoint))
        if case .tcp = endpoint { tune(descriptor.raw) }
        let raw = descriptor.raw
        if let source {
            set(raw, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1)
            _ = try unsafe withSocketAddress(.tcp(source, port: 0)) { address, length throws(Errno) in
                try retrying { unsafe bind(raw, address, length) }
            }
        }
        do {
            _ = try unsafe withSocketAddress(endpoint) { address, length throws(Errno) in
                try retrying { unsafe Glibc.connect(raw, address, length) }
            }
        } catch {
            guard error == .inProgress else { throw error }
        }
        return descriptor
    }

    /// Takes a waiting connection and its peer's address.
    public static func accept(_ listener: Int32) throws(Errno) -> Accepted {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let raw = try unsafe withUnsafeMutablePointer(to: &storage) { pointer throws(Errno) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(Errno) in
                try retrying { unsafe accept4(listener, address, &length, SWB_NONBLOCK | SWB_CLOEXEC) }
            }
        }
        return Accepted(descriptor: FileDescriptor(owning: raw), address: endpoint(of: storage).address)
    }

    /// Lets the kernel open no more connections for a listener; those already open can still be accepted.
    ///
    /// Closing a listener resets connections that it has not accepted (listen(2) says nothing, but Linux does). If the
    /// kernel refuses the filter, the close works as without it.
    static func dropNewConnections(_ listener: Int32) {
        _ = swb_drop_new_connections(listener)
    }

    /// The port of a listener, for one that was bound to port 0.
    public static func port(of listener: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(listener, $0, &length)
            }
        }
        return result == 0 ? endpoint(of: storage).port : 0
    }

    /// The result of a connect: `nil` when it succeeded (SO_ERROR, socket(7)).
    public static func pendingError(_ raw: Int32) -> Errno? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return .current }
        return code == 0 ? nil : Errno(code: code)
    }

    /// Sets the options of every TCP connection: no Nagle delay, and detection of dead peers by the kernel too.
    static func tune(_ raw: Int32) {
        set(raw, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(raw, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(raw, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 20_000)
    }

    /// Half-closes: the peer reads the end of the stream after everything written.
    static func finishWriting(_ raw: Int32) {
        _ = shutdown(raw, Int32(SHUT_WR))
    }

    /// Makes close(2) reset the connection at once, dropping unsent bytes.
    static func resetOnClose(_ raw: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Lets the kernel store only about so many unread bytes.
    static func limitReceiveBuffer(_ raw: Int32, _ bytes: Int) {
        set(raw, SOL_SOCKET, SO_RCVBUF, Int32(clamping: bytes))
    }

    // A failed option costs speed or promptness, never correctness, so its result is ignored.
    private static func set(_ raw: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(raw, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func open(_ endpoint: Endpoint) throws(Errno) -> FileDescriptor {
        let family: Int32 =
            switch endpoint {
            case .tcp(let address, _): address.isIPv4 ? AF_INET : AF_INET6
            case .unix: AF_UNIX
            }
        return FileDescriptor(
            owning: try retrying { socket(family, Int32(SOCK_STREAM.rawValue) | SWB_NONBLOCK | SWB_CLOEXEC, 0) })
    }

    private static func withSocketAddress<Result>(
        _ endpoint: Endpoint, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        switch endpoint {
        case .tcp(let address, let port) where address.isIPv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &name.sin_addr) { unsafe $0.copyBytes(from: address.bytes) }
            return try unsafe rebound(&name, body)
        case .tcp(let address, let port):
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &name.sin6_addr) { unsafe $0.copyBytes(from: address.bytes.prefix(16)) }
            return try unsafe rebound(&name, body)
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: name.sun_path) - 1
            guard path.utf8.count <= room else { throw Errno(code: ENAMETOOLONG) }
            unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
            return try unsafe rebound(&name, body)
        }
    }

    private static func rebound<Name, Result>(
        _ name: inout Name, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let length = socklen_t(MemoryLayout<Name>.size)
        return try unsafe withUnsafePointer(to: &name) { pointer throws(Errno) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(Errno) in
                try unsafe body(address, length)
            }
        }
    }

    private static func endpoint(of storage: sockaddr_storage) -> (address: IPAddress?, port: UInt16) {
        unsafe withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let name = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                return (IPAddress(bytes: unsafe Array(bytes[4..<8])), UInt16(bigEndian: name.sin_port))
            case AF_INET6:
                let name = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
                return (IPAddress(bytes: unsafe Array(bytes[8..<24])), UInt16(bigEndian: name.sin6_port))
            default:
                return (nil, 0)
            }
        }
    }
}
