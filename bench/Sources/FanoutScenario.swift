import Core
import Reactors
import Transport

/// One topic, many members, a steady rate: CPU per delivery of the gateway, latency from publish to receipt, losses.
///
/// Events are published over HTTP when they are due, whatever happened to those before (no coordinated omission), and
/// carry the time they were due on the clock that also takes the receipt.
struct FanoutScenario {
    private let options: BenchOptions

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Prints one line of figures; true when every member got every event.
    func run() throws(BenchFailure) -> Bool {
        let run = try BenchRun(options)
        guard run.open(options.connections, seconds: 300), run.live == options.connections else {
            throw BenchFailure("\(run.live) of \(options.connections) clients were live")
        }
        let publisher: BenchPublisher
        do {
            publisher = try BenchPublisher(run, apiKey: options.apiKey, ratePerSecond: options.rate)
        } catch {
            throw BenchFailure("cannot publish: \(error)")
        }
        _ = run.turn(seconds: 1) { publisher.isOpen }
        let start = try ProcessFigures(pid: options.pid)
        publisher.start()
        _ = run.turn(seconds: options.seconds) { false }
        publisher.stop()
        let expected = publisher.published * options.connections
        _ = run.turn(seconds: 5) { run.clients.reduce(0) { $0 + $1.events } >= expected }
        let end = try ProcessFigures(pid: options.pid)
        let delivered = run.clients.reduce(0) { $0 + $1.events }
        let cpuUs = (end.cpuSeconds - start.cpuSeconds) * 1_000_000 / Double(max(delivered, 1))
        let latencies = run.latenciesUs.sorted()
        func percentile(_ share: Double) -> Double {
            guard !latencies.isEmpty else { return 0 }
            return Double(latencies[min(Int(Double(latencies.count) * share), latencies.count - 1)]) / 1_000
        }
        print(
            "\(options.rate)/s x \(options.connections)  published \(publisher.published)  delivered \(delivered)  "
                + "lost \(expected - delivered)  CPU per delivery \(Double(Int(cpuUs * 100)) / 100) us  "
                + "p50 \(percentile(0.5)) ms  p99 \(percentile(0.99)) ms")
        _ = run.closeAll(seconds: 60)
        return delivered == expected
    }
}
