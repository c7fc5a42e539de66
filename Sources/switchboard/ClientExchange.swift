import Connections
import Core
import Gateway
import Reactors
import Service

/// A command's connection to a gateway: connects, passes bytes to the command, ends the loop with the connection.
///
/// Thread: main, which runs the loop.
final class ClientExchange: ConnectionHandler {
    private let reactor: Reactor
    private let context: ConnectionContext
    private let url: GatewayURL
    private let onOpen: (Connection) -> Void
    private let onBytes: ([UInt8]) -> Void
    private var connection: Connection?
    private var timer: ReactorTimer?
    /// The reason why the exchange failed; `nil` without a failure.
    private(set) var failure: String?
    /// Whether the other side ended an open connection before ``finish()`` and without a failure.
    private(set) var isCut = false
    private var isOpen = false
    private var isFinished = false

    init(
        _ url: GatewayURL, limits: Limits, onOpen: @escaping (Connection) -> Void, onBytes: @escaping ([UInt8]) -> Void
    ) throws(StartProblem) {
        self.url = url
        self.onOpen = onOpen
        self.onBytes = onBytes
        do {
            reactor = try Reactor(wake: try Wake())
        } catch {
            throw StartProblem("cannot start: \(error)")
        }
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
    }

    /// Runs until the connection has ended or ``finish()``.
    func run(connectMs: Int) {
        do {
            timer = try ReactorTimer(reactor) { [unowned self] in
                if !isOpen { fail("no answer from \(url.authority) in \(connectMs) ms") }
            }
            timer?.set(atMs: reactor.nowMs + connectMs)
            try Resolver.resolve(url.host, on: reactor) { [unowned self] addresses in dial(addresses) }
        } catch {
            failure = error.description
            return
        }
        reactor.run()
    }

    /// Closes properly and ends the loop.
    func finish() {
        isFinished = true
        connection?.close(.normal)
        reactor.stop()
    }

    /// Ends the loop with a failure.
    func fail(_ reason: String) {
        if failure == nil { failure = reason }
        reactor.stop()
    }

    private func dial(_ addresses: [IPAddress]) {
        guard let address = addresses.first else { return fail("\(url.host): no such host") }
        do {
            connection = try Connection.connect(
                context, to: .tcp(address, port: url.port), tls: url.tls, name: url.verifiedName,
                outboundBytesMax: 8 << 20, handler: self)
        } catch {
            fail("\(url.authority): \(error)")
        }
    }

    func opened(_ connection: Connection) {
        isOpen = true
        onOpen(connection)
    }

    func received(_ bytes: Span<UInt8>) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in 0..<bytes.count { copy.append(bytes[index]) }
        onBytes(copy)
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        guard !isOpen else {
            isCut = !isFinished && failure == nil
            return reactor.stop()
        }
        let detail = connection?.failureText ?? ""
        fail("cannot connect to \(url.authority): \(detail.isEmpty ? reason.rawValue : detail)")
    }
}
