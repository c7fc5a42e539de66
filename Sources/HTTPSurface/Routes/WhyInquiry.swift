import Commands
import Core
import EventLogs
import Fleet
import Operations
import Rights
import Service
import Topics
import Traces

/// Gathers the facts for one `GET /v1/why`, one after another, and answers.
///
/// Thread: the shard's.
final class WhyInquiry {
    private let route: TraceRoute
    private let event: TracedEvent
    private let scope: WhyFacts.Scope
    private let payer: Payer
    private let completion: (Result<[UInt8], Refusal>) -> Void
    private var facts: WhyFacts
    private var rows: TraceRows?

    /// Sessions of the user that the evidence has.
    private static let sessionsMax = 50

    init(
        _ route: TraceRoute, _ event: TracedEvent, _ scope: WhyFacts.Scope, _ payer: Payer,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void
    ) {
        (self.route, self.event, self.scope, self.payer, self.completion) = (route, event, scope, payer, completion)
        facts = WhyFacts(
            user: String(decoding: event.query.user ?? [], as: UTF8.self), topic: event.query.topic,
            offset: event.query.offset, position: event.position, event: event.fact)
    }

    private var user: [UInt8] { event.query.user ?? [] }
    private var topic: Topic { event.query.topic }

    /// Asks all gateways for the user's sessions, then Redis for what holds now.
    func begin() {
        var question = FleetQuestion(.why, [.topic: topic.bytes, .user: user], limit: FleetQuestion.limits.upperBound)
        event.mark(&question)
        route.fleet.ask(question) { [self] result in
            switch result {
            case .failure(let refusal): completion(.failure(refusal))
            case .success(let result):
                let rows = TraceRows(result, scope)
                self.rows = rows
                facts.sessions = rows.facts
                facts.recordedSinceMs = rows.recordedSinceMs
                facts.goneNodes = rows.gone
                facts.unanswered = result.incomplete.map { String(decoding: $0, as: UTF8.self) }
                // Nothing that the asker may not see is read.
                if scope != .topic { facts.revokedUntil = route.context.gate.revokedUntil(user) }
                askRights()
            }
        }
    }

    // MARK: Rights

    private func askRights() {
        guard
            let identity = Identity(
                user: user, role: .user, topics: nil, expiresAt: route.context.clock.wallSeconds + 60)
        else { return rights(.failure(Refusal(.badRequest, "this is no user"))) }
        let caller = Caller.user(identity)
        switch route.access.subscribe(topic, caller) {
        case .refuse(let refusal): rights(.success(refusal))
        case .askMembership:
            route.topics.isMember(topic, user: user) { [self] result in
                rights(
                    result.map { isMember in
                        guard case .refuse(let refusal) = AccessPolicy.Decision.membership(isMember) else { return nil }
                        return refusal
                    })
            }
        case .allow:
            let asker = ReadCaller(caller: CommandCaller(caller), payer: payer)
            route.topics.recheck(topic, asker) { [self] result in
                switch result {
                case .success: rights(.success(nil))
                case .failure(let refusal) where refusal.code == .unavailable || refusal.code == .internalError:
                    rights(.failure(refusal))
                case .failure(let refusal): rights(.success(refusal))
                }
            }
        }
    }

    private func rights(_ result: Result<Refusal?, Refusal>) {
        switch result {
        case .success(nil): facts.rights = .allowed
        case .success(let refusal?): facts.rights = .refused(refusal.message)
        case .failure(let refusal): facts.rights = .unread(refusal.message)
        }
        askBlocks()
    }

    // MARK: Blocks and nodes

    private func askBlocks() {
        let names = route.context.library.blocks
        guard names.blocks != nil else { return askPresence() }
        route.topics.blocks(of: user, on: topic, names) { [self] result in
            if case .success(let found) = result {
                let name = event.logged.map { "\($0.event)" }
                facts.blocks = WhyFacts.Blocks(
                    blocks: found.blocks, blockedBy: found.blockedBy, partner: found.partner,
                    isStandIn: name.map { names.standIns.contains($0) } ?? false)
            }
            askPresence()
        }
    }

    /// Asks the topic's presence whether it lists the user on a gateway that is gone.
    private func askPresence() {
        guard !facts.goneNodes.isEmpty, route.access.policy(of: topic)?.presence == true else { return answer() }
        route.reading.entries(topic, payer) { [self] result in
            if case .success(let members) = result {
                let names = Set(members.filter { $0.user == user }.map { String(decoding: $0.id.node, as: UTF8.self) })
                for index in facts.goneNodes.indices where names.contains(facts.goneNodes[index].name) {
                    facts.goneNodes[index].listsUser = true
                }
            }
            answer()
        }
    }

    // MARK: The answer

    private func answer() {
        facts = facts.told(to: scope)
        let answer = facts.answer()
        var body = Array("{".utf8)
        body.append(member: "user", string: user)
        body.append(member: "topic", string: topic.bytes)
        body.append(member: "epoch", stringOrNull: event.position?.epoch)
        body.append(member: "offset", number: event.query.offset)
        body.append(member: "verdict", string: answer.verdict.rawValue)
        body.append(member: "sentences")
        body.append(arrayOf: answer.sentences) { $0.append(jsonString: $1) }
        body.append(member: "evidence")
        body.append(arrayOf: evidence) { $0 += $1 }
        body.append(member: "unanswered")
        body.append(arrayOf: facts.unanswered) { $0.append(jsonString: $1) }
        completion(.success(body + [UInt8(ascii: "}")]))
    }

    /// JSON objects: the event, the sessions that decide before the others, and the rest.
    private var evidence: [[UInt8]] {
        var event: [UInt8] = []
        self.event.append(to: &event, kind: "event")
        let head = Array("{\"kind\":\"session\",".utf8)
        let sessions = (rows?.sessions ?? []).prefix(WhyInquiry.sessionsMax).map { head + $0.dropFirst() }
        return [event] + sessions + [rightsRow] + revocationRows + blockRows + goneRows + (rows?.records ?? [])
    }

    private var rightsRow: [UInt8] {
        WhyInquiry.object("rights") { text in
            switch facts.rights {
            case .allowed: text.append(member: "allowed", json: "true".utf8)
            case .refused(let message), .unread(let message):
                text.append(member: "allowed", json: (facts.rights == .refused(message) ? "false" : "null").utf8)
                text.append(member: "message", string: message)
            }
        }
    }

    private var revocationRows: [[UInt8]] {
        facts.revokedUntil.map { until in
            [
                WhyInquiry.object("revocation") {
                    $0.append(member: "until", string: Timestamp.text(wallMs: until * 1_000))
                }
            ]
        } ?? []
    }

    private var blockRows: [[UInt8]] {
        guard scope != .topic, let blocks = facts.blocks else { return [] }
        return [
            WhyInquiry.object("blocks") { text in
                text.append(member: "blocks")
                text.append(arrayOf: blocks.blocks) { $0.append(jsonString: $1) }
                text.append(member: "blockedBy")
                text.append(arrayOf: blocks.blockedBy) { $0.append(jsonString: $1) }
                text.append(member: "partner", stringOrNull: blocks.partner?.utf8)
                text.append(member: "standsIn", json: "\(blocks.isStandIn)".utf8)
            }
        ]
    }

    private var goneRows: [[UInt8]] {
        facts.goneNodes.map { node in
            WhyInquiry.object("gone") { text in
                text.append(member: "node", string: node.name)
                text.append(member: "seen", string: Timestamp.text(wallMs: node.seenMs))
                text.append(member: "listsUser", json: "\(node.listsUser)".utf8)
            }
        }
    }

    private static func object(_ kind: String, _ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "kind", string: kind)
        write(&text)
        return text + [UInt8(ascii: "}")]
    }
}
