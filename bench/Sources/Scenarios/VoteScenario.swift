import Core
import Glibc
import Reactors
import Rights
import Service

/// Users at a shop vote on its tracks as fast as they are answered: acknowledged votes a second, and how long one takes.
///
/// Each client is a user of its own with `window` votes under way; every vote differs from the user's last on that
/// track, so every one of them changes something. The shop, its session and its tracks `t0...` must be there, and the
/// users `u000000000000...` present (bench/votes.sh sees to it).
final class VoteScenario: BenchScenario {
    private let options: BenchOptions
    private var acknowledged = 0
    private var refused = 0
    private var isVoting = false
    private var latenciesUs: [Int] = []
    /// By client: votes sent, and when those under way were sent, oldest first.
    private var sent: [Int] = []
    private var sentUs: [Ring<Int>] = []

    private static let tracks = 20

    init(_ options: BenchOptions) {
        self.options = options
    }

    /// Prints one line of figures; true when every vote was acknowledged.
    func run(_ coordinator: Coordinator) throws(BenchFailure) -> BenchResult {
        let run = try BenchRun(options)
        let tokens = try tokens()
        run.token = { tokens[$0] }
        run.firstMessage = "{\"event\":\"ping\",\"ref\":0}"
        run.onMessage = { [unowned self] client, payload in answered(client, payload) }
        sent = Array(repeating: 0, count: options.connections)
        sentUs = Array(repeating: Ring(), count: options.connections)
        guard run.open(options.connections, seconds: 120), run.live == options.connections else {
            throw BenchFailure("\(run.live) of \(options.connections) clients were live")
        }
        let start = try ProcessFigures(pid: options.pids[0])
        let startUs = Clock.monotonicUs()
        isVoting = true
        for client in run.clients {
            for _ in 0..<options.window { vote(client) }
        }
        _ = run.turn(seconds: options.seconds) { false }
        let seconds = Double(Clock.monotonicUs() - startUs) / 1_000_000
        let counted = acknowledged
        let end = try ProcessFigures(pid: options.pids[0])
        isVoting = false
        let total = sent.reduce(0, +)
        _ = run.turn(seconds: 10) { [unowned self] in acknowledged + refused >= total }
        let cpuUs = (end.cpuSeconds - start.cpuSeconds) * 1_000_000 / Double(max(counted, 1))
        let latencies = latenciesUs.sorted()
        func percentile(_ share: Double) -> Double {
            guard !latencies.isEmpty else { return 0 }
            return Double(latencies[min(Int(Double(latencies.count) * share), latencies.count - 1)]) / 1_000
        }
        print(
            "\(options.connections) users x \(options.window)  votes \(Int(Double(counted) / seconds))/s  "
                + "acknowledged \(acknowledged)  refused \(refused)  unanswered \(total - acknowledged - refused)  "
                + "gateway CPU per vote \(Double(Int(cpuUs * 10)) / 10) us  "
                + "p50 \(percentile(0.5)) ms  p99 \(percentile(0.99)) ms")
        _ = run.closeAll(seconds: 60)
        var result = coordinator.result(seconds)
        result.passed = refused == 0 && acknowledged == total
        return result
    }

    /// One token a user, valid for an hour.
    private func tokens() throws(BenchFailure) -> [String] {
        do {
            let signer = try TokenSigner(secretFile: try Files.read(options.secretFile, bytesMax: 65_536))
            var tokens: [String] = []
            for number in 0..<options.connections {
                let digits = String(number)
                let user = "u" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
                guard
                    let identity = Identity(
                        user: Array(user.utf8), role: .user, topics: [], expiresAt: Clock.wallMs() / 1_000 + 3_600)
                else { throw BenchFailure("no user can be called \(user)") }
                tokens.append(String(decoding: try signer.sign(try TokenClaims(identity)), as: UTF8.self))
            }
            return tokens
        } catch let failure as BenchFailure {
            throw failure
        } catch {
            throw BenchFailure("cannot sign tokens: \(error)")
        }
    }

    private func vote(_ client: BenchClient) {
        let count = sent[client.number]
        sent[client.number] = count + 1
        sentUs[client.number].append(Clock.monotonicUs())
        // Through all tracks with one vote, then through all with the other.
        let track = (client.number + count) % VoteScenario.tracks
        let vote = count / VoteScenario.tracks % 2 == 0 ? "up" : "down"
        client.send(
            "{\"event\":\"vote\",\"data\":{\"shopId\":\"bench\",\"trackId\":\"t\(track)\",\"vote\":\"\(vote)\"},"
                + "\"ref\":\(count + 1)}")
    }

    private static let acknowledgement = Array("{\"event\":\"ack\"".utf8)

    private func answered(_ client: BenchClient, _ payload: [UInt8]) {
        guard let sentAtUs = sentUs[client.number].popFirst() else { return }
        latenciesUs.append(Clock.monotonicUs() - sentAtUs)
        if payload.starts(with: VoteScenario.acknowledgement) {
            acknowledged += 1
        } else {
            refused += 1
            if refused == 1 { BenchFailure.say(String(decoding: payload, as: UTF8.self)) }
        }
        if isVoting { vote(client) }
    }
}
