import Connections
import Core
import Reactors

/// The state that the clients of a crowd share: reactor, log, figures.
///
/// Thread: main.
final class Crowd {
    let options: CrowdOptions
    let reactor: Reactor
    let context: ConnectionContext
    let tls: TLSContext
    let log: CrowdLog
    let crc = CRC32()
    private(set) var clients: [CrowdClient] = []

    private var connections = 0
    private var live = 0
    private var events = 0
    private var gaps = 0
    private var errors = 0
    private var failedAttempts = 0
    private var attemptsUnderWay = 0
    private var openings = 0
    private var resumed = 0
    private var unreadableMessages = 0
    private var latencies = LatencyHistogram()
    private var connects = LatencyHistogram()
    /// Times of the first loss after a quiet second, of the last loss, and of the full return since.
    private var lossBeganMs = 0
    private var lastLossMs = Int.min / 2
    private var backMs: Int?
    /// Number of clients that have begun, and of those that were live or failed once.
    private var begun = 0
    private var settled = 0
    /// The index of the next client to cut.
    private var cursor = 0

    /// Maximum first attempts under way: enough to keep a core busy, few enough not to overrun a backlog.
    private static let openingMax = 64

    init(_ options: CrowdOptions) throws(BenchFailure) {
        self.options = options
        log = try CrowdLog(path: options.log)
        do {
            reactor = try Reactor(wake: try Wake())
            tls = try TLSContext(clientTrusting: options.ca)
            var limits = Limits()
            limits.handshakesPerTick = 64
            context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
        do {
            for number in 0..<options.clients { clients.append(try CrowdClient(self, number: number)) }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    // MARK: Commands of the scenario

    /// Starts some more clients.
    func open() {
        while begun < clients.count, begun - settled < Crowd.openingMax {
            begun += 1
            clients[begun - 1].connect()
        }
    }

    /// Makes the first `count` clients stop reading; the others read.
    func stall(_ count: Int) {
        for client in clients { client.setStalled(client.number < count) }
    }

    /// Disconnects the next `count` connected clients; returns how many there were.
    func leave(_ count: Int, byReset: (Int) -> Bool) -> Int {
        var left = 0
        for _ in clients.indices where left < count {
            let client = clients[cursor]
            cursor = (cursor + 1) % clients.count
            guard client.isConnected else { continue }
            client.leave(byReset: byReset(left))
            left += 1
        }
        return left
    }

    // MARK: Reports of the clients

    /// Whether one more client may try to connect.
    var mayAttempt: Bool { attemptsUnderWay < options.attemptsMax }

    /// An attempt begins; it ends as live, failed or disconnected.
    func attemptBegan() { attemptsUnderWay += 1 }

    func connected(isResumed: Bool) {
        connections += 1
        openings += 1
        if isResumed { resumed += 1 }
    }

    func disconnected(wasLive: Bool) {
        connections -= 1
        if wasLive { live -= 1 } else { attemptsUnderWay -= 1 }
        let nowMs = Clock.monotonicMs()
        if nowMs - lastLossMs > 1_000 { lossBeganMs = nowMs }
        (lastLossMs, backMs) = (nowMs, nil)
        if !wasLive { settle() }
    }

    func attemptFailed() {
        failedAttempts += 1
        attemptsUnderWay -= 1
        settle()
    }

    func isLive(afterUs: Int) {
        live += 1
        attemptsUnderWay -= 1
        connects.add(afterUs)
        if live == clients.count, openings > clients.count { backMs = Clock.monotonicMs() - lossBeganMs }
        settle()
    }

    /// Counts a client as settled; every client calls this once before all have begun, and later calls are harmless.
    private func settle() {
        settled = min(settled + 1, begun)
    }

    func eventCame(latencyUs: Int?) {
        events += 1
        if let latencyUs { latencies.add(latencyUs) }
    }

    func gapCame() { gaps += 1 }

    func errorCame() { errors += 1 }

    /// Logs an unparsed message, so that it is not lost silently.
    func unreadable(_ client: CrowdClient) {
        unreadableMessages += 1
        log.begin("X", client: client.number, atUs: Clock.monotonicUs())
        log.add(nil as Int?)
        log.add(Array("unreadable".utf8))
        log.end()
    }

    // MARK: Figures

    /// The figures as JSON; latencies and connects start again from zero.
    func status() -> String {
        log.flush()
        defer {
            latencies.removeAll()
            connects.removeAll()
        }
        func text(_ value: Int?) -> String { value.map { String($0) } ?? "null" }
        func ms(_ us: Int?) -> String { us.map { "\(Double($0) / 1_000)" } ?? "null" }
        let figures: [(String, String)] = [
            ("clients", text(clients.count)), ("connected", text(connections)), ("live", text(live)),
            ("events", text(events)), ("gaps", text(gaps)), ("errors", text(errors)),
            ("unreadable", text(unreadableMessages)), ("connects", text(openings)),
            ("reconnects", text(max(openings - clients.count, 0))), ("resumed", text(resumed)),
            ("failedAttempts", text(failedAttempts)), ("timed", text(latencies.count)),
            ("p50Ms", ms(latencies.percentile(0.5))), ("p99Ms", ms(latencies.percentile(0.99))),
            ("maxMs", ms(latencies.count > 0 ? latencies.maxUs : nil)),
            ("connectMs", ms(connects.percentile(0.99))), ("backMs", text(backMs)), ("lines", text(log.lines)),
        ]
        return "{" + figures.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// Whether every client is live.
    var isComplete: Bool { live == clients.count }
}
