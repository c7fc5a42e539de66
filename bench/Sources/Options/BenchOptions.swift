import Core

/// The command line; each process of a run receives all of it.
struct BenchOptions: Codable {
    /// The subcommands with an engine of several processes.
    enum Scenario: String, CaseIterable, Codable {
        case fanout
        case unicast
        case idle
        case churn
        case capacity
        case vote
        case queue
        case herd
        case slow
    }

    /// The way in which `herd` loses its connections.
    enum Cut: String, CaseIterable, Codable {
        /// The clients reset them, all at once.
        case reset
        /// Another process ends them, for example one that kills the server.
        case wait
    }

    /// The publishers.
    enum Door: String, CaseIterable, Codable {
        /// Services, by the target's HTTP API.
        case http
        /// PUBLISH on the target's Redis.
        case redis
        /// The subscribers themselves, over their sockets.
        case clients
    }

    /// Whether clients ask for deflated messages.
    enum Deflate: String, CaseIterable, Codable {
        case on
        case off
    }

    /// Runs in which a client or a publish was refused: whether their results are kept.
    enum Refusals: String, CaseIterable, Codable {
        case keep
        case discard
    }

    var scenario: Scenario
    /// The command line by flag without dashes, for the report; without secrets.
    var settings: [String: String] = [:]

    // MARK: The target
    var urls: [String] = []
    var target = Target.switchboard
    var targetVersion = ""
    var label = ""
    var apiKey = ""
    /// The file with the gateway's HS256 secret, for scenarios whose clients are users.
    var secretFile = ""
    var redis = ""
    var pids: [Int32] = []
    var redisPid = 0

    // MARK: Clients
    var processes = 1
    /// Source addresses used in turn from 127.0.1.1 on; 1 leaves the choice to the kernel.
    var sources = 1
    var connections = 1_000
    /// Connections opened a second; 0 for as many as ``openingMax`` allows under way.
    var ramp = 0
    /// The dialects of the clients to the gateway, in turn.
    var dialects = [ClientDialect.native]
    /// Whether clients offer `permessage-deflate`, which the target must then agree on.
    var deflate = Deflate.off
    /// The CPU that client processes are pinned to; -1 for none.
    var pin = -1

    // MARK: Load
    var topic = "shop:bench"
    var topics = 1
    /// Publishes a second in all.
    var rate = 20
    /// Bytes of a message's data.
    var bytes = 200
    var warmUp = 2
    var seconds = 10
    var publish = Door.http
    var publishConnections = 32
    /// Maximum requests that one client has under way (`vote`).
    var window = 1
    /// Number of times that all connections are opened and closed (`churn`).
    var rounds = 10
    /// The p99 that a rate must not exceed (`capacity`), milliseconds.
    var p99Ms = 50

    /// The side that ends the connections (`herd`).
    var cut = Cut.reset
    /// Measured seconds before the event of the scenario (`herd`, `slow`), and after it (`slow`).
    var calm = 3
    /// Number of clients that stop reading (`slow`); they read slowly when the bytes a second for each are not 0.
    var slow = 1
    var slowBytesPerSecond = 0

    // MARK: Results
    /// Percent of stolen CPU time above which a run is discarded; 100 keeps all.
    var stolenMax = 100
    var refusals = Refusals.keep
    var json = ""
    var html = ""

    /// Maximum handshakes under way: enough to keep a core busy, few enough not to overrun a backlog.
    static let openingMax = 64

    static let usage = """
        usage: switchboard-bench SCENARIO --url wss://ADDRESS:PORT [--url ...] [flags]
               switchboard-bench report FILE... --html OUT | compare A.json B.json | crowd --help

        scenarios
          fanout     publishes to one topic that all connections subscribe to
          unicast    publishes to --topics K topics in turn; connection i subscribes to topic i modulo K
          idle       opens connections and lets them lie: memory, set-up CPU, idle CPU
          churn      opens and closes --rounds N times: descriptors and memory must come back
          capacity   searches for the highest rate of a fanout with p99 <= --p99-ms and no loss
          vote       users vote on a shop's tracks as fast as they are answered, --window N under way each; with
                     --rate R votes are due R times a second in all (bench/votes.sh)
          queue      bookings of --topics K shops change R times a second, by command and straight in --redis in turn,
                     until subscribers have the queue:update; needs --api-key, --redis and a worker (bench/queue.sh)
          herd       all clients are cut at once, --calm S into the measured seconds, and come back from where they were
          slow       --slow N of the clients stop reading, --calm S after the beginning to --calm S before the end

        target
          --target switchboard|floor|nchan|ws|socketio   what answers there (switchboard)
          --target-version TEXT, --label NAME            what the report calls it
          --api-key KEY, --secret-file FILE              credentials of services; the secret of users' tokens
          --redis URL                                    unix:// or redis://, for --publish redis
          --pid N[,N...], --redis-pid N                  processes whose CPU and memory are measured

        clients
          --connections N (1000), --ramp R               how many; opened a second (as fast as 64 under way)
          --processes P (1), --pin CPU                   client processes; the CPU they are pinned to
          --dialect D[,D...] (native)                    native, phoenix-v1, phoenix-v2, socketio or stream, in turn
          --deflate on|off (off)                         on: offer permessage-deflate, and inflate what comes
          --sources K (1)                                source addresses used in turn, from 127.0.1.1 on

        load
          --topic T (shop:bench), --topics K (1)         the topic, or the beginning of the topics' names
          --rate R (20), --bytes B (200)                 publishes a second in all; bytes of a message's data
          --warmup S (2), --seconds S (10)               load that is not measured, then load that is
          --publish http|redis|clients                   who publishes
          --publish-connections N (32)                   keep-alive connections of the HTTP publisher to begin with
          --window N, --rounds N, --p99-ms N             of vote, churn, capacity
          --cut reset|wait, --calm S (3)                 of herd: the clients reset their connections, or wait until
                                                         another ends them; of herd and slow: quiet seconds
          --slow N (1), --slow-bytes-per-second B (0)    of slow: how many do not read, or read so much each. The kernel
                                                         keeps megabytes for each: use much load, or small tcp_wmem

        results
          --json FILE, --html FILE                       appends the run to a file; writes a page with plots
          --stolen-max PERCENT (100)                     a run during which a hypervisor kept more of the CPU time that
                                                         was asked for is not kept; the tool exits with 3
          --refusals keep|discard (keep)                 a fanout, unicast or idle in which a client or a publish was
                                                         refused fails, and the tool exits with 4; discard: as above
        """

    init(_ arguments: [String]) throws(BenchFailure) {
        guard let name = arguments.first else { throw BenchFailure(BenchOptions.usage) }
        guard let scenario = Scenario(rawValue: name) else {
            throw BenchFailure((name == "--help" ? "" : "there is no scenario \(name)\n") + BenchOptions.usage)
        }
        self.scenario = scenario
        var rest = arguments.dropFirst()
        while let flag = rest.popFirst() {
            if flag == "--help" { throw BenchFailure(BenchOptions.usage) }
            guard let value = rest.popFirst() else { throw BenchFailure("\(flag) needs a value") }
            try set(flag, value)
            if !BenchOptions.untold.contains(flag) { settings[String(flag.dropFirst(2))] = value }
        }
        try check()
    }

    /// Flags that do not describe the load, or are secret.
    private static let untold: Set = ["--api-key", "--stolen-max", "--refusals"]

    // MARK: Reading

    private static var texts: [String: WritableKeyPath<BenchOptions, String>] {
        [
            "--target-version": \.targetVersion, "--label": \.label, "--api-key": \.apiKey,
            "--secret-file": \.secretFile, "--redis": \.redis, "--topic": \.topic, "--json": \.json, "--html": \.html,
        ]
    }

    private static var numbers: [String: (WritableKeyPath<BenchOptions, Int>, ClosedRange<Int>)] {
        [
            "--redis-pid": (\.redisPid, 1...Int(Int32.max)),
            "--processes": (\.processes, 1...256),
            "--sources": (\.sources, 1...250),
            "--connections": (\.connections, 1...1_000_000),
            "--ramp": (\.ramp, 1...1_000_000),
            "--pin": (\.pin, 0...1_023),
            "--topics": (\.topics, 1...1_000_000),
            "--rate": (\.rate, 1...1_000_000),
            "--bytes": (\.bytes, Message.bytesMin...65_536),
            "--warmup": (\.warmUp, 0...3_600),
            "--seconds": (\.seconds, 1...86_400),
            "--publish-connections": (\.publishConnections, 1...256),
            "--window": (\.window, 1...1_000),
            "--rounds": (\.rounds, 1...1_000_000),
            "--p99-ms": (\.p99Ms, 1...60_000),
            "--stolen-max": (\.stolenMax, 0...100),
            "--calm": (\.calm, 1...3_600),
            "--slow": (\.slow, 1...1_000_000),
            "--slow-bytes-per-second": (\.slowBytesPerSecond, 1...1_000_000_000),
        ]
    }

    private mutating func set(_ flag: String, _ value: String) throws(BenchFailure) {
        if let path = BenchOptions.texts[flag] {
            self[keyPath: path] = value
        } else if let (path, range) = BenchOptions.numbers[flag] {
            guard let number = ASCII.decimal(Array(value.utf8)), range.contains(number) else {
                throw BenchFailure("\(flag) must be \(range.lowerBound) to \(range.upperBound)")
            }
            self[keyPath: path] = number
        } else {
            try setOther(flag, value)
        }
    }

    private mutating func setOther(_ flag: String, _ value: String) throws(BenchFailure) {
        switch flag {
        case "--url":
            guard CrowdOptions.URL(value) != nil else {
                throw BenchFailure("--url must be wss://ADDRESS:PORT or ws://ADDRESS:PORT, the address numeric")
            }
            urls.append(value)
        case "--target": target = try BenchOptions.choice(flag, value)
        case "--publish": publish = try BenchOptions.choice(flag, value)
        case "--dialect":
            guard let list = ClientDialect.list(value) else {
                let names = ClientDialect.allCases.map(\.rawValue).joined(separator: ", ")
                throw BenchFailure("--dialect must be of \(names), with commas between them")
            }
            dialects = list
        case "--deflate": deflate = try BenchOptions.choice(flag, value)
        case "--refusals": refusals = try BenchOptions.choice(flag, value)
        case "--cut": cut = try BenchOptions.choice(flag, value)
        case "--pid":
            for text in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = ASCII.decimal(Array(text.utf8)), let pid = Int32(exactly: number), pid > 0 else {
                    throw BenchFailure("--pid must be process ids with commas between them")
                }
                pids.append(pid)
            }
        default: throw BenchFailure("unknown flag \(flag)\n" + BenchOptions.usage)
        }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ flag: String, _ value: String
    ) throws(BenchFailure) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: value) else {
            throw BenchFailure("\(flag) must be \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private func check() throws(BenchFailure) {
        guard !urls.isEmpty else { throw BenchFailure("--url is needed\n" + BenchOptions.usage) }
        guard Topic(topic) != nil else { throw BenchFailure("--topic must be namespace:id") }
        if publish == .redis, redis.isEmpty { throw BenchFailure("--publish redis needs --redis URL") }
        if publish != .http, target != .switchboard {
            throw BenchFailure("--publish \(publish.rawValue) is for --target switchboard only")
        }
        if dialects != [.native], target != .switchboard || publish == .clients {
            throw BenchFailure("--dialect is for --target switchboard, and clients that do not publish")
        }
        if dialects.contains(.stream), deflate == .on { throw BenchFailure("a stream is not deflated") }
        if dialects.contains(where: { $0 == .phoenixV1 || $0 == .phoenixV2 }), apiKey.isEmpty {
            throw BenchFailure("--dialect phoenix needs --api-key, which its clients show")
        }
        if publish == .clients, secretFile.isEmpty {
            throw BenchFailure("--publish clients needs --secret-file, since only users may publish")
        }
        if scenario == .idle || scenario == .churn, pids.isEmpty {
            throw BenchFailure("\(scenario.rawValue) needs --pid")
        }
        guard processes <= connections else { throw BenchFailure("--processes must not exceed --connections") }
        try checkScenario()
    }
}
