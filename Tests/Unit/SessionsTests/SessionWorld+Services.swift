import Commands
import Connections
import Core
import Dialects
import Reactors
import Rights
import Service
import Traces

@testable import Sessions
@testable import Topics

/// The services of the model's sessions.
extension SessionWorld {
    /// The services of sessions whose requests are charged to a budget.
    func makeServices(budget: any SessionBudget) -> SessionServices {
        let services = SessionServices(
            address: ShardAddress(node: [], shard: 0),
            clock: ShardClock(monotonicMs: { [unowned self] in nowMs }, wallMs: { [unowned self] in wallMs }),
            rules: SessionRules(limits: SessionWorld.limits, access: fixtures.access, budget: budget),
            topics: self,
            encodings: EncodingTable(
                written: Counter(), deflation: Deflation(bytesMin: 0, bytesMax: 0, statistics: fixtures.statistics)),
            log: self, presence: self, commands: self, callers: self, reports: self,
            trace: SessionTrace(bytesMax: 65_536, nowMs: { [unowned self] in nowMs }))
        servicesMade.append(services)
        return services
    }

    // MARK: Commands and tokens

    func run(
        _ name: String, _ arguments: CommandArguments, operation: OperationID?, scope: [UInt8], lane: UInt64,
        caller: Caller, payer: Payer,
        _ completion: @escaping (Result<[UInt8], Refusal>) -> Void
    ) {
        call("run \(name)", run: {}) { isFailing in
            let failure = Refusal(.unavailable, "")
            completion(isFailing ? .failure(failure) : .success(Array("{}".utf8)))
        }
    }

    func verify(_ token: [UInt8]) -> Result<Identity, TokenFailure> {
        guard let identity = SessionClient.identity(token, expiresAt: wallMs / 1_000 + 3_600) else {
            return .failure(.shape)
        }
        return .success(identity)
    }

    // MARK: Joins and their budget

    func charge(_ cost: SessionCost, _ caller: Caller) -> Int? {
        if !isResting, chance(20) { return 100 }
        if case .joins(let count) = cost { joinsPaid += count }
        return nil
    }

    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal? {
        guard !isResting, chance(12) else { return nil }
        note("the join of \(topic) cannot be paid")
        return SessionWorld.unpaid
    }

    /// The refusal of a join that the budget does not pay.
    static let unpaid = Refusal(.rateLimited, "unpaid", retryAfterMs: 100)

    func join(_ session: Session, _ request: SubscribeRequest, ref: Reference?) {
        joins += 1
        topics.join(session, request, ref: ref)
    }

    func leave(_ session: Session, _ feed: LocalTopic<Session>, place: Int?) {
        topics.leave(session, feed, place: place)
    }
}
