public import Configuration
public import Connections
public import Core
import Reactors
public import Service

/// A listening address: one socket for each shard, bound together, and the start of its connections.
public struct ListenerPlan: Sendable {
    /// Name in the log and in the ready file: `tls`, `plain`, `ops`.
    public let name: String
    /// `nil` for plain TCP; a reload may replace it before the address is open.
    public var tls: TLSContext?
    /// The routes of the address.
    public let role: ListenerRole
    /// Whether a client from there begins with a PROXY header.
    public let expectsProxyHeader: @Sendable (IPAddress?) -> Bool
    /// The judge of new connections.
    public let admission: any Admission
    /// Address of the listener, with the port that the system gave.
    public let address: HostPort
    /// A socket for each shard, which owns it once it listens; `nil` for a shard that could not start.
    public private(set) var descriptors: [Int32?]

    /// Maximum connections that the kernel queues for each socket until they are accepted.
    private static let backlog: Int32 = 4_096

    /// The plan of an address that is bound; see ``bind(_:count:isShared:)``.
    public init(
        name: String, tls: TLSContext?, role: ListenerRole,
        expectsProxyHeader: @escaping @Sendable (IPAddress?) -> Bool, admission: any Admission, address: HostPort,
        descriptors: [Int32?]
    ) {
        self.name = name
        self.tls = tls
        self.role = role
        self.expectsProxyHeader = expectsProxyHeader
        self.admission = admission
        self.address = address
        self.descriptors = descriptors
    }

    /// Binds a socket for each shard; the address is numeric, port 0 lets the system choose.
    ///
    /// Unless the address `isShared` with other processes, the first socket finds out whether another process uses it.
    public static func bind(_ address: HostPort, count: Int, isShared: Bool) throws(StartProblem) -> ([Int32], HostPort)
    {
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        guard let numeric = IPAddress(text: host.utf8) else {
            throw StartProblem("\(address): listen on a numeric address, e.g. 0.0.0.0:8443")
        }
        var port = address.port
        var descriptors: [Int32] = []
        do {
            for _ in 0..<count {
                let descriptor = try Sockets.bound(to: .tcp(numeric, port: port), isShared: isShared)
                port = Sockets.port(of: descriptor.raw)
                descriptors.append(descriptor.release())
            }
        } catch {
            throw problem(address, error)
        }
        return (descriptors, HostPort(host: address.host, port: port))
    }

    /// Starts listening with every socket; from then on they share the address with each other.
    ///
    /// The first one listens alone, so that of two processes that bound the address at once only one gets it.
    public func listen() throws(StartProblem) {
        do {
            for (index, raw) in descriptors.compactMap(\.self).enumerated() {
                if index > 0 { Sockets.share(raw) }
                try Sockets.listen(on: raw, backlog: ListenerPlan.backlog)
                if index == 0 { Sockets.share(raw) }
            }
        } catch {
            throw ListenerPlan.problem(address, error)
        }
    }

    /// Closes the sockets of shards that could not start: the kernel would assign them clients that no thread accepts.
    public mutating func close(_ shards: some Sequence<Int>) {
        for shard in shards {
            guard let raw = descriptors[shard] else { continue }
            descriptors[shard] = nil
            _ = FileDescriptor(owning: raw)
        }
    }

    private static func problem(_ address: HostPort, _ failure: Errno) -> StartProblem {
        let mend =
            failure == .addressInUse
            ? ": another process listens there; end it, take another port (--listen, or --port of dev), or give both "
                + "processes --reuse-port" : ""
        return StartProblem("cannot listen on \(address): \(failure)\(mend)")
    }
}
