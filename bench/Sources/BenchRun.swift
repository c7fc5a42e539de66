import Core
import Reactors
import Transport

/// The clients of a run on one reactor, opened a few at a time.
///
/// Thread: main.
final class BenchRun {
    let context: ConnectionContext
    let address: IPAddress
    let port: UInt16
    let topic: String
    let tls: TLSContext
    private(set) var live = 0
    private(set) var ended = 0
    private(set) var clients: [BenchClient] = []
    /// From due to receipt, of events that carry their time as `"t":<microseconds>` at the start of their data.
    private(set) var latenciesUs: [Int] = []
    /// The token of the client of that number; `nil` for an anonymous one.
    var token: (Int) -> String? = { _ in nil }
    /// What a client says first; it is live with the answer.
    var firstMessage: String
    /// What is done with everything a live client is sent.
    lazy var onMessage: (BenchClient, [UInt8]) -> Void = { [unowned self] _, payload in eventCame(payload) }
    private let timeOffset: Int
    private let reactor: Reactor
    private var timer: ReactorTimer?
    private var wanted = 0
    private var isDone: () -> Bool = { true }

    /// Handshakes under way at most: enough to keep a core busy, few enough not to overrun a backlog.
    private static let openingMax = 64

    init(_ options: BenchOptions) throws(BenchFailure) {
        do {
            reactor = try Reactor(wake: try Wake())
            tls = try TLSContext(clientTrusting: nil)
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
        address = IPAddress(127, 0, 0, 1)
        port = options.urls.first.flatMap { CrowdOptions.URL($0) }?.port ?? 0
        topic = options.topic
        firstMessage = "{\"event\":\"subscribe\",\"data\":{\"topic\":\"\(options.topic)\"}}"
        timeOffset = "{\"topic\":\"\(options.topic)\",\"event\":\"e\",\"data\":{\"t\":".utf8.count
        do {
            timer = try ReactorTimer(reactor) { [unowned self] in step() }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    /// Opens so many clients and returns when all are live or ended; false when the time is over first.
    func open(_ count: Int, seconds: Int) -> Bool {
        wanted = clients.count + count
        return turn(seconds: seconds) { [unowned self] in live + ended >= wanted }
    }

    /// Closes all clients and returns when they have ended.
    func closeAll(seconds: Int) -> Bool {
        for client in clients { client.close() }
        let isOver = turn(seconds: seconds) { [unowned self] in ended >= clients.count }
        clients = []
        (wanted, live, ended) = (0, 0, 0)
        return isOver
    }

    /// Lets the loop turn until the condition holds; false when the time is over first.
    func turn(seconds: Int, until condition: @escaping () -> Bool) -> Bool {
        isDone = condition
        deadlineMs = Clock.monotonicMs() + seconds * 1_000
        timer?.set(atMs: 0)
        reactor.run()
        return condition()
    }

    /// Takes an event's latency; every event of a run has the same bytes up to its time.
    func eventCame(_ payload: [UInt8]) {
        guard payload.count > timeOffset else { return }
        let digits = payload[timeOffset...].prefix { ASCII.isDigit($0) }
        if let sent = ASCII.decimal(digits) { latenciesUs.append(Clock.monotonicUs() - sent) }
    }

    private var deadlineMs = 0

    func clientIsLive() { live += 1 }

    func clientEnded() { ended += 1 }

    private func step() {
        while clients.count < wanted, clients.count - live - ended < BenchRun.openingMax {
            guard let client = try? BenchClient(self, number: clients.count) else { break }
            clients.append(client)
        }
        if isDone() || Clock.monotonicMs() >= deadlineMs { return reactor.stop() }
        timer?.set(atMs: Clock.monotonicMs() + 1)
    }
}
