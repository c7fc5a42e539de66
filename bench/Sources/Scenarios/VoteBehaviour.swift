import Connections
import Core
import Reactors
import Rights
import Service

/// Users at a shop vote on its tracks: as soon as they are answered, or when a vote is due.
///
/// In the open loop a vote for which no user has room waits, and its latency runs from when it was due. Thread: main.
final class VoteBehaviour: ClientBehaviour {
    private let crew: ClientCrew
    private let signer: TokenSigner
    private let shop: String
    private let isOpenLoop: Bool
    private var timer: PrecisionTimer?
    private var plan: LoadPlan?
    /// In the open loop: the number of the next vote among all of the run.
    private var next = 0
    private lazy var ledger = VoteLedger(users: crew.clients.count, window: crew.options.window)

    /// Votes sent before answers are checked again.
    private static let burst = 128
    private static let tokenSeconds = 86_400

    init(_ crew: ClientCrew) throws(BenchFailure) {
        self.crew = crew
        shop = String(crew.options.topic.drop { $0 != ":" }.dropFirst())
        isOpenLoop = crew.options.isRateGiven
        do {
            signer = try TokenSigner(secretFile: try Files.read(crew.options.secretFile, bytesMax: 65_536))
        } catch {
            throw BenchFailure("cannot sign tokens with \(crew.options.secretFile): \(error)")
        }
        do {
            timer = try PrecisionTimer(crew.context.reactor) { [unowned self] in voteDue() }
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
    }

    func topic(_ number: Int) -> String { crew.options.topic }

    func token(_ number: Int) -> String? {
        let user = VoteBehaviour.user(number)
        guard
            let identity = Identity(
                user: Array(user.utf8), role: .user, topics: [],
                expiresAt: Clock.wallMs() / 1_000 + VoteBehaviour.tokenSeconds),
            let claims = try? TokenClaims(identity), let token = try? signer.sign(claims)
        else {
            crew.note("no token can be signed for \(user)")
            return nil
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// The user of the client of that number; bench/votes.sh makes them present at the shop.
    static func user(_ number: Int) -> String {
        let digits = String(number)
        return "u" + String(repeating: "0", count: max(12 - digits.utf8.count, 0)) + digits
    }

    func upgraded(_ client: LoadClient) -> Target.Step { .say("{\"event\":\"ping\",\"ref\":0}") }

    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step {
        guard let frame = FrameScanner(text) else { return .refused }
        return frame.isNamed("error", text) ? .refused : frame.isNamed("pong", text) ? .live : .wait
    }

    func begins(_ plan: LoadPlan) {
        self.plan = plan
        next = crew.processIndex
        timer?.set(atUs: plan.startUs)
    }

    private func voteDue() {
        guard let plan else { return }
        let nowUs = Clock.monotonicUs()
        guard isOpenLoop else {
            while nowUs < plan.endUs, begin(dueUs: nowUs) {}
            return
        }
        for _ in 0..<VoteBehaviour.burst {
            guard next < plan.count else { return }
            guard plan.dueUs(next) <= nowUs else { timer?.set(atUs: plan.dueUs(next)); return }
            // With all windows full, due votes wait for an answer, which calls this again.
            guard begin(dueUs: plan.dueUs(next)) else { return }
            next += crew.processCount
        }
        timer?.set(atUs: nowUs)
    }

    /// Sends a vote; false when no user has room for one.
    private func begin(dueUs: Int) -> Bool {
        guard let vote = ledger.begin(dueUs: dueUs) else { return false }
        if plan?.isMeasured(dueUs) == true { crew.figures.published += 1 }
        crew.clients[vote.user].send(
            "{\"event\":\"vote\",\"data\":{\"shopId\":\"\(shop)\",\"trackId\":\"t\(vote.track)\",\"vote\":\""
                + "\(vote.isUp ? "up" : "down")\"},\"ref\":\(vote.ref)}")
        return true
    }

    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int) {
        guard let frame = FrameScanner(text) else { return crew.note("a message is not understood") }
        let isGood = frame.isNamed("ack", text)
        // A warning is no answer.
        guard isGood || frame.isNamed("error", text),
            let dueUs = ledger.answered(client.number - crew.firstNumber)
        else { return }
        if !isGood {
            crew.note("refused: " + LoadClient.text(text.extracting(frame.payload ?? 0..<0), 200))
        }
        if plan?.isMeasured(dueUs) == true {
            if isGood { crew.figures.acknowledged += 1 } else { crew.figures.commandsRefused += 1 }
            crew.figures.latency.add(nowUs - dueUs)
        }
        voteDue()
    }

    func ended(_ client: LoadClient) -> Bool {
        ledger.left(client.number - crew.firstNumber)
        return false
    }

    /// Whether no vote is under way, and none is to come.
    var isDone: Bool {
        guard let plan else { return true }
        guard ledger.underWay == 0 else { return false }
        return isOpenLoop ? next >= plan.count : Clock.monotonicUs() >= plan.endUs
    }
}
