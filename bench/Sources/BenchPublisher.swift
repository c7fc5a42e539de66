import Core
import Reactors
import Transport

/// Publishes at a rate over some keep-alive HTTP connections in turn, as the processes of a backend would.
///
/// One connection is not enough: a gateway answers its requests one after the other. Thread: the run's reactor's.
final class BenchPublisher: ConnectionHandler {
    private(set) var published = 0
    private var opened = 0
    var isOpen: Bool { opened == BenchPublisher.connectionCount }
    private let run: BenchRun
    private let apiKey: String
    private let ratePerSecond: Int
    private var connections: [Connection] = []
    private var timer: ReactorTimer?
    private var startUs = 0

    private static let connectionCount = 32
    private static let padding = String(repeating: "x", count: 150)

    init(_ run: BenchRun, apiKey: String, ratePerSecond: Int) throws(Errno) {
        self.run = run
        self.apiKey = apiKey
        self.ratePerSecond = ratePerSecond
        for _ in 0..<BenchPublisher.connectionCount {
            connections.append(
                try Connection.connect(
                    run.context, to: .tcp(run.address, port: run.port), tls: run.tls, name: "",
                    outboundBytesMax: 8 << 20, handler: self))
        }
        timer = try ReactorTimer(run.context.reactor) { [unowned self] in publishDue() }
    }

    func start() {
        startUs = Clock.monotonicUs()
        timer?.set(atMs: 0)
    }

    func stop() {
        timer?.clear()
    }

    private func publishDue() {
        let nowUs = Clock.monotonicUs()
        while startUs + published * 1_000_000 / ratePerSecond <= nowUs {
            publish(dueUs: startUs + published * 1_000_000 / ratePerSecond)
        }
        timer?.set(atMs: nowUs / 1_000)
    }

    private func publish(dueUs: Int) {
        let data = "{\"t\":\(dueUs),\"p\":\"\(BenchPublisher.padding)\"}"
        let body = "{\"topic\":\"\(run.topic)\",\"event\":\"e\",\"data\":\(data)}"
        let head =
            "POST /v1/broadcast HTTP/1.1\r\nHost: bench\r\napikey: \(apiKey)\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
        let connection = connections[published % connections.count]
        if connection.send(Array((head + body).utf8)) { published += 1 }
    }

    func opened(_ connection: Connection) {
        opened += 1
    }

    func received(_ bytes: Span<UInt8>) {}

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        BenchFailure.say("the gateway ended the publisher's connection: \(reason.rawValue)")
    }
}
