import Core
import Reactors
import Transport

/// Publishes at a rate over one keep-alive HTTP connection. Thread: the run's reactor's.
final class BenchPublisher: ConnectionHandler {
    private(set) var published = 0
    private(set) var isOpen = false
    private let run: BenchRun
    private let apiKey: String
    private let ratePerSecond: Int
    private var connection: Connection?
    private var timer: ReactorTimer?
    private var startUs = 0

    private static let padding = String(repeating: "x", count: 150)

    init(_ run: BenchRun, apiKey: String, ratePerSecond: Int) throws(Errno) {
        self.run = run
        self.apiKey = apiKey
        self.ratePerSecond = ratePerSecond
        connection = try Connection.connect(
            run.context, to: .tcp(run.address, port: run.port), tls: run.tls, name: "", outboundBytesMax: 8 << 20,
            handler: self)
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
        let body = "{\"topic\":\"\(run.topic)\",\"event\":\"e\",\"data\":{\"t\":\(dueUs),\"p\":\"\(BenchPublisher.padding)\"}}"
        let head = "POST /v1/broadcast HTTP/1.1\r\nHost: bench\r\napikey: \(apiKey)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        if connection?.send(Array((head + body).utf8)) == true { published += 1 }
    }

    func opened(_ connection: Connection) {
        isOpen = true
    }

    func received(_ bytes: Span<UInt8>) {}

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        connection = nil
        BenchFailure.say("the gateway ended the publisher's connection: \(reason.rawValue)")
    }
}
