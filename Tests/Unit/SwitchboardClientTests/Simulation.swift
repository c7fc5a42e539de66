import TestSupport

@testable import SwitchboardClient

/// One history of a client with a gateway, a network and an app that all have faults, in virtual time.
struct Simulation {
    struct Reader {
        let topic: String
        var base: TopicPosition?
        var wasToldGap = false
    }

    struct Call {
        let lane: String
        let isRepeatable: Bool
        var result: Result<JSONValue, SwitchboardError>?
        var finishes = 0
    }

    struct Message {
        let atMs: Int64
        let text: String
    }

    static let beginMs: Int64 = 1_800_000_000_000
    var machine: ClientMachine
    var random: Seeded
    let mutant: Mutant?
    var gateway = SimulatedGateway()
    var nowMs: Int64 = 0

    // The network.
    var isReachable = true
    /// The socket, with when it opens.
    var socket: (generation: Int, opensAtMs: Int64?)?
    var isMute = false
    var latencyMs: Int64 = 5
    var toClient: [Message] = []
    var toGateway: [Message] = []
    /// What a socket that ended tells too late: a text, or its end (`nil`).
    var late: [(atMs: Int64, text: String?)] = []
    var lateGeneration = 0
    var tokenAsked: Int?
    var failsTokens = false

    var readers: [Int: Reader] = [:]
    var calls: [String: Call] = [:]
    var made: [String] = []
    var tickets: [Int: String] = [:]
    var numbers = 0
    var joinTimes: [Int64] = []
    var violation: String?
    var steps = 0

    init(seed: UInt64, mutant: Mutant? = nil) {
        random = Seeded(seed)
        self.mutant = mutant
        machine = ClientMachine(times: ClientTimes(), seed: seed ^ 0xabcdef, credentials: .refreshing)
        gateway.moody = happens(500) ? 0 : 60
        latencyMs = Int64.random(in: 1...120, using: &random)
    }

    mutating func happens(_ thousandths: Int) -> Bool { Int.random(in: 0..<1_000, using: &random) < thousandths }

    mutating func fail(_ text: String) { violation = violation ?? "\(text), at \(nowMs) ms" }

    /// Lives the history; returns what went wrong.
    mutating func run() -> String? {
        act(.start)
        for _ in 0..<Int.random(in: 10...60, using: &random) {
            something()
            let pause: Int64 = happens(30) ? 100_000 : happens(300) ? 3_000 : 150
            pass(Int64.random(in: 0...pause, using: &random))
            if violation != nil { return violation }
        }
        heal()
        pass(130_000)
        check()
        return violation
    }

    private mutating func heal() {
        isReachable = true
        failsTokens = false
        gateway.moody = 0
        // A dead connection is the client's to find.
        if happens(300) { isMute = socket != nil }
        if machine.status.phase == .unauthorized { act(.setCredentials(.refreshing)) }
        gateway.acceptsToken = true
    }

    // MARK: Time

    mutating func pass(_ durationMs: Int64) {
        let end = nowMs + durationMs
        while violation == nil {
            steps += 1
            if steps > 4_000 { return fail("the client spins") }
            let due = [
                machine.wakeAtMs, toClient.first?.atMs, toGateway.first?.atMs, socket?.opensAtMs, late.first?.atMs,
            ].compactMap { $0 }.min()
            guard let due, due <= end else { break }
            nowMs = max(nowMs, due)
            step()
        }
        nowMs = end
        violation = violation ?? gateway.violation.map { "\($0), at \(nowMs) ms" }
    }

    private mutating func step() {
        if let message = late.first, message.atMs <= nowMs {
            late.removeFirst()
            if let text = message.text {
                act(.text(generation: lateGeneration, text))
            } else {
                act(.closed(generation: lateGeneration, code: 0, httpStatus: nil))
            }
        } else if let socket, let opens = socket.opensAtMs, opens <= nowMs {
            self.socket?.opensAtMs = nil
            if isReachable {
                act(.opened(generation: socket.generation))
            } else {
                self.socket = nil
                act(.closed(generation: socket.generation, code: 0, httpStatus: nil))
            }
        } else if let message = toGateway.first, message.atMs <= nowMs {
            toGateway.removeFirst()
            let answer = gateway.take(message.text, nowMs: nowMs, &random)
            say(answer.said)
            if let code = answer.close { cut(code: code) }
        } else if let message = toClient.first, message.atMs <= nowMs {
            toClient.removeFirst()
            if let socket { act(.text(generation: socket.generation, message.text)) }
        } else {
            act(.tick)
        }
    }

    /// The gateway's words go on their way.
    mutating func say(_ said: [String]) {
        guard socket != nil, !isMute else { return }
        for text in said {
            toClient.append(Message(atMs: max(nowMs + latencyMs, toClient.last?.atMs ?? 0), text: text))
        }
    }

    /// The connection ends.
    ///
    /// What was on its way to the gateway may arrive, up to some point; nothing else does.
    mutating func cut(code: Int) {
        guard let socket else { return }
        if !isMute, gateway.isAuthenticated {
            for message in toGateway.prefix(Int.random(in: 0...toGateway.count, using: &random)) {
                _ = gateway.take(message.text, nowMs: nowMs, &random)
            }
        }
        if code != 0 { for message in toClient { act(.text(generation: socket.generation, message.text)) } }
        forgetSocket()
        act(.closed(generation: socket.generation, code: code, httpStatus: nil))
    }

    mutating func forgetSocket() {
        if let socket, happens(300) {
            late = toClient.suffix(1).map { (nowMs + 1_500, $0.text) } + [(nowMs + 2_000, nil)]
            lateGeneration = socket.generation
        }
        socket = nil
        isMute = false
        toClient = []
        toGateway = []
        gateway.joined = []
        gateway.isAuthenticated = false
    }

    // MARK: The client

    mutating func act(_ input: ClientInput) {
        guard violation == nil else { return }
        let altered = mutant?.before(input, &machine) ?? input
        var outputs = machine.take(altered, nowMs: nowMs, wallMs: Simulation.beginMs + nowMs)
        if let mutant { outputs = mutant.after(outputs, &machine) }
        for output in outputs { perform(output) }
    }

    private mutating func perform(_ output: ClientOutput) {
        switch output {
        case .open(let generation, _):
            if socket != nil { fail("two sockets at once") }
            socket = (generation, nowMs + latencyMs)
        case .send(let generation, let text):
            guard let socket, socket.generation == generation, socket.opensAtMs == nil else {
                return fail("said on no socket: \(text)")
            }
            if text.hasPrefix(#"{"event":"subscribe""#) { countJoins(text) }
            if !isMute {
                toGateway.append(Message(atMs: max(nowMs + latencyMs, toGateway.last?.atMs ?? 0), text: text))
            }
        case .close(let generation, _): if socket?.generation == generation { forgetSocket() }
        case .askToken(let fetch, _):
            if failsTokens { return act(.token(fetch: fetch, nil)) }
            act(.token(fetch: fetch, "t\(fetch)"))
        case .tell(let listener, let update): told(listener, update)
        case .end(let listener, let error): fail("\(listener) was ended by \(String(describing: error))")
        case .finish(let ticket, let result): finished(ticket, result)
        case .result, .store, .forget, .status: break
        }
    }

    private mutating func countJoins(_ text: String) {
        let data = JSONReader.read(text)?["data"]
        joinTimes += Array(repeating: nowMs, count: data?["topics"]?.array?.count ?? 1)
        joinTimes.removeAll { $0 < nowMs - 1_000 }
        // Two connections may begin within a second, and each has the gateway's whole allowance.
        if joinTimes.count > 2 * 64 + 20 { fail("\(joinTimes.count) joins in a second") }
    }
}
