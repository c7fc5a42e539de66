import Core

/// The command line of `crowd`.
struct CrowdOptions {
    /// A gateway's address.
    struct URL {
        let address: IPAddress
        let port: UInt16
        let usesTLS: Bool
        /// The host as written, without brackets: the name the certificate must be valid for.
        let host: String
        let authority: String
        let path: String

        /// Parses `wss://ADDRESS:PORT/path` or `ws://...`, the address numeric; without a path it is `/ws`.
        init?(_ text: String) {
            let usesTLS = text.hasPrefix("wss://")
            guard usesTLS || text.hasPrefix("ws://") else { return nil }
            let rest = text.dropFirst(usesTLS ? 6 : 5)
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            guard let colon = rest[..<slash].lastIndex(of: ":") else { return nil }
            var host = rest[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard let address = IPAddress(text: host.utf8),
                let number = ASCII.decimal(rest[rest.index(after: colon)..<slash].utf8),
                let port = UInt16(exactly: number), port > 0
            else { return nil }
            self.address = address
            self.port = port
            self.usesTLS = usesTLS
            self.host = String(host)
            authority = String(rest[..<slash])
            path = slash == rest.endIndex ? "/ws" : String(rest[slash...])
        }
    }

    var urls: [URL] = []
    var ca: String?
    var clients = 1_000
    var topics = CrowdTopics(prefix: [], count: 0)
    var perClient = 1
    /// Maximum attempts to reconnect under way; the others wait.
    var attemptsMax = Int.max
    var log = ""
    var readsCommands = false
    var seconds = 10

    static let usage = """
        usage: switchboard-bench crowd --url wss://ADDRESS:PORT/ws [--url ...] --topics PREFIX:COUNT --log FILE
                                       [--ca FILE] [--clients N] [--per-client K] [--attempts N]
                                       [--stdin | --seconds N]

        N clients record everything they are sent. Client i subscribes to the topics PREFIX and number i*K ... i*K+K-1,
        modulo COUNT. After a disconnect each comes back, at the next URL, after a random pause of up to 100 ms, doubled
        with every failure to 5 s (or after the delay that `draining` told), resumes its TLS session, and subscribes from
        where it was. A subscribe that is refused is repeated on the same connection. Without --ca no certificate is verified.
        With --attempts at most N attempts are under way at once: phones have a processor each, all of these one.

        FILE gets one line for each thing that happens; times are microseconds of CLOCK_MONOTONIC, `-` is none:
          TIME C CLIENT RESUMED                              the WebSocket is open; RESUMED: 1 when TLS was resumed
          TIME S CLIENT TOPIC EPOCH OFFSET RECOVERED SINCE-EPOCH SINCE-OFFSET     the answer `subscribed`
          TIME E CLIENT TOPIC OFFSET EVENT M CRC             an event: the member `m` of its data, CRC-32 of its data's text
          TIME G CLIENT TOPIC EPOCH OFFSET REASON            a gap
          TIME X CLIENT TOPIC CODE                           an `error`; `unreadable`: a message of another form
          TIME W CLIENT DELAY-MS                             `draining`
          TIME D CLIENT CODE                                 disconnected; the close code, 0 without one
          TIME N CLIENT REASON                               a connection attempt failed

        With --stdin it obeys these lines, answers each with one line, and ends with its input:
          stall N   clients 0 ... N-1 stop reading, also after they came back; resume   they read again
          drop N    the next N connected clients are cut by a TCP reset
          churn R   R clients a second leave, every other one by a reset, and come back; 0 ends it
          status    JSON; writes the log. Latencies (of events whose data has the member `t`: when it was to be sent) and
                    connectMs (from connect to live) are of the time since the last status. backMs: from the first
                    disconnect after a quiet second until all were live again, null until then
          quit
        """

    init(_ arguments: [String]) throws(BenchFailure) {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            if flag == "--help" { throw BenchFailure(CrowdOptions.usage) }
            if flag == "--stdin" {
                readsCommands = true
                continue
            }
            guard let value = rest.popFirst() else { throw BenchFailure("\(flag) needs a value") }
            switch flag {
            case "--url":
                guard let url = URL(value) else { throw BenchFailure("--url must be wss://ADDRESS:PORT/path") }
                urls.append(url)
            case "--ca": ca = value
            case "--log": log = value
            case "--topics":
                guard let read = CrowdTopics(value) else { throw BenchFailure("--topics must be PREFIX:COUNT") }
                topics = read
            case "--clients": clients = try CrowdOptions.number(flag, value, max: 20_000)
            case "--per-client": perClient = try CrowdOptions.number(flag, value, max: 256)
            case "--attempts": attemptsMax = try CrowdOptions.number(flag, value, max: 20_000)
            case "--seconds": seconds = try CrowdOptions.number(flag, value, max: 1_000_000)
            default: throw BenchFailure("unknown flag \(flag)\n" + CrowdOptions.usage)
            }
        }
        guard !urls.isEmpty, !log.isEmpty, topics.count > 0 else {
            throw BenchFailure("--url, --topics and --log are needed\n" + CrowdOptions.usage)
        }
        guard perClient <= topics.count else { throw BenchFailure("--per-client must be at most the count of topics") }
    }

    /// Parses a number from 1 to `max`.
    private static func number(_ flag: String, _ value: String, max: Int) throws(BenchFailure) -> Int {
        guard let number = ASCII.decimal(value.utf8), number > 0, number <= max else {
            throw BenchFailure("\(flag) must be 1 to \(max)")
        }
        return number
    }
}
