public import Configuration
public import Connections
public import Core
public import Reactors
import Synchronization

/// The listener of a worker's or courier's operations.
///
/// It is bound before the thread starts, so that a wrong address is reported at the start.
public final class OperationsListener: Sendable {
    /// The most connections at once; few programs connect here.
    public static let connectionsMax = 64

    /// The address at which it listens, with the real port.
    public let address: HostPort
    private let descriptor = Guarded<Int32?>(nil)

    /// Binds the address.
    public init(_ address: HostPort) throws(StartProblem) {
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        guard let numeric = IPAddress(text: host.utf8) else {
            throw StartProblem("\(address): listen on a numeric address, e.g. 127.0.0.1:9091")
        }
        do {
            let socket = try Sockets.listen(.tcp(numeric, port: address.port), backlog: 64)
            self.address = HostPort(host: address.host, port: Sockets.port(of: socket.raw))
            let raw = socket.release()
            descriptor.withLock { $0 = raw }
        } catch {
            throw StartProblem("cannot listen on \(address): \(error)")
        }
    }

    /// Begins to accept, on the reactor's thread; from then on the listener owns the socket.
    public func open(
        _ context: ConnectionContext, limits: Limits, makeHandler: @escaping () -> any ConnectionHandler
    ) throws(Errno) -> Listener? {
        let taken = descriptor.withLock { held in
            defer { held = nil }
            return held
        }
        guard let taken else { return nil }
        let style = Listener.Style(
            tls: nil, expectsProxyHeader: { _ in false }, acceptsPerTick: limits.acceptsPerTick,
            acceptPauseMs: limits.acceptPauseMs, descriptorReserve: DescriptorReserve.operators)
        return try Listener(
            context: context, listening: FileDescriptor(owning: taken), style: style, admission: FewAtOnce(),
            makeHandler: makeHandler)
    }

    /// Admits a few connections at once, from any address.
    private final class FewAtOnce: Admission {
        private let open = Atomic<Int>(0)

        func admit(_ address: IPAddress?) -> Bool {
            guard open.load(ordering: .relaxed) < OperationsListener.connectionsMax else { return false }
            open.add(1, ordering: .relaxed)
            return true
        }

        func move(from proxy: IPAddress?, to client: IPAddress?, wasEstablished: Bool) -> Bool { true }
        func established(_ address: IPAddress?) {}
        func release(_ address: IPAddress?, wasEstablished: Bool) { open.subtract(1, ordering: .relaxed) }
    }
}
