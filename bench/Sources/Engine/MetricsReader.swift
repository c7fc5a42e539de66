import Connections
import Core
import Reactors

/// Reads a gateway's metrics once, before or after a load, over a connection of its own.
///
/// Thread: main.
final class MetricsReader: ConnectionHandler {
    private(set) var isDone = false
    private var connection: Connection?
    private var answer = HTTPAnswer()
    private var page: [UInt8] = []
    private let authority: String

    /// Connects to a gateway.
    init(_ reactor: Reactor, _ url: CrowdOptions.URL) throws(BenchFailure) {
        authority = url.authority
        do {
            let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
            connection = try Connection.connect(
                context, to: .tcp(url.address, port: url.port),
                tls: url.usesTLS ? try TLSContext(clientTrusting: nil) : nil, name: "", outboundBytesMax: 65_536,
                handler: self)
        } catch {
            throw BenchFailure("cannot read the metrics: \(error)")
        }
    }

    /// The value of a metric, summed over its labels; `nil` when the page has none, or was not received.
    static func value(_ name: String, in page: [UInt8]) -> Int? {
        var sum: Int?
        for line in page.split(separator: UInt8(ascii: "\n")) where line.starts(with: name.utf8) {
            // After the name follow labels or the value, else it is the beginning of a longer name.
            guard let next = line.dropFirst(name.utf8.count).first, next == 0x20 || next == UInt8(ascii: "{"),
                let space = line.lastIndex(of: 0x20), let value = ASCII.decimal(line[(space + 1)...])
            else { continue }
            sum = (sum ?? 0) + value
        }
        return sum
    }

    /// Number of encodings of events for clients, and number of publishes.
    var encodings: (encodings: Int, publishes: Int)? {
        guard let encodings = MetricsReader.value("switchboard_encodings_total", in: page),
            let publishes = MetricsReader.value("switchboard_publishes_total", in: page)
        else { return nil }
        return (encodings, publishes)
    }

    func opened(_ connection: Connection) {
        let request = "GET /metrics HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n"
        _ = connection.send(Array(request.utf8))
    }

    func received(_ bytes: Span<UInt8>) {
        switch answer.take(bytes) {
        case .more: return
        case .whole(let status, let body): if status == 200 { page = body }
        case .failed: break
        }
        isDone = true
        connection?.close(.normal)
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        isDone = true
        connection = nil
    }
}
