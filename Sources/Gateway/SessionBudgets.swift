import Core
import EventLogs
import Operations
import Rights
import Service
import Sessions
import Topics

/// The budgets of a shard's sessions: those of the node, and the log's price of a join.
///
/// Thread: the shard's.
final class SessionBudgets: SessionBudget {
    private let node: Node
    private let clock: ShardClock
    private let store: EventLog
    private unowned let topics: TopicTable<Session>

    init(_ node: Node, _ clock: ShardClock, _ store: EventLog, _ topics: TopicTable<Session>) {
        self.node = node
        self.clock = clock
        self.store = store
        self.topics = topics
    }

    func charge(_ cost: SessionCost, _ caller: Caller) -> Int? {
        switch cost {
        case .publish:
            // An anonymous caller has no rate of its own; the limit on its connection's messages bounds it.
            guard case .user(let identity) = caller, !caller.isService else { return nil }
            return node.rates.waitForUserAction(identity.user, nowMs: clock.nowMs)
        case .joins, .readFollows:
            return nil
        }
    }

    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal? {
        store.payJoin(topic, payer: node.rates.payer(caller, at: address), isCoalesced: topics.isCoalesced(topic))
    }

    func room(at address: IPAddress?) -> Int { node.budgets.room(of: node.rates.payer(.anonymous, at: address)) }

    func hold(_ count: Int, at address: IPAddress?) {
        node.budgets.hold(count, node.rates.payer(.anonymous, at: address))
    }
}
