import Core
import Testing

@testable import Fleet

/// Questions are read from queries; a refusal names the fault.
@Suite struct FleetQuestionReadingTests {
    private static func items(_ query: String) -> [FleetQuestion.Item] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Array(parts[0].utf8), Array((parts.count > 1 ? parts[1] : "").utf8))
        }
    }

    private static func read(_ kind: FleetQuestion.Kind, _ query: String) throws(Refusal) -> FleetQuestion {
        try FleetQuestion(kind, query: items(query))
    }

    @Test func everythingOfAQueryIsTaken() throws {
        let topics = try Self.read(.topics, "sort=bytes&namespace=shop&limit=7")
        #expect(topics == FleetQuestion(.topics, [.namespace: Array("shop".utf8)], order: 2, limit: 7))
        let sessions = try Self.read(.sessions, "user=ann&topic=shop:1&address=::1&node=x1nq4G0b")
        #expect(sessions.node == Array("x1nq4G0b".utf8) && sessions.parameters.count == 3)
        #expect(sessions.limit == FleetQuestion.limitUsual)
        #expect(try Self.read(.talkers, "").parameters[.by] == Array("user".utf8))
        #expect(try Self.read(.talkers, "by=key&sort=redisUs").order == 3)
    }

    /// Of more than 50 gateways some were missing, and the query takes no limit to ask for them.
    @Test func everyGatewayOfALargeFleetIsListed() throws {
        let question = try Self.read(.nodes, "")
        #expect(question.limit == FleetQuestion.limits.upperBound && question.rowsPerPart == 500)
    }

    @Test(arguments: [
        (FleetQuestion.Kind.nodes, "limit=3"), (.topics, "limit=0"), (.topics, "limit=501"), (.topics, "limit=x"),
        (.topics, "sort=name"), (.topics, "namespace=Shop"), (.topics, "user=ann"), (.topics, "limit=1&limit=2"),
        (.sessions, "user="), (.sessions, "user=a b"), (.sessions, "address=1.2.3"), (.sessions, "topic=shop"),
        (.sessions, "node=a.b"), (.sessions, "node="), (.slow, "user=ann"), (.talkers, "by=topic"),
        (.talkers, "sort=x"),
        (.close, "reason=normal"), (.close, "by=x"), (.close, "session=a.0.1"),
        (.tap, "seconds=0"), (.tap, "seconds=61"), (.tap, "seconds=x"), (.tap, "after=1"), (.wire, "after=-1"),
        (.wire, "seconds=1"), (.untap, "after=1"), (.untap, "by=x"),
    ])
    func faultsAreRefused(_ kind: FleetQuestion.Kind, _ query: String) {
        #expect(throws: Refusal.self) { try Self.read(kind, query) }
    }

    @Test func theIDOfASessionNamesItsNode() throws {
        let question = try FleetQuestion(
            .close, ofSession: Array("x1nq4G0b.1.17".utf8), query: Self.items("reason=forbidden"),
            key: Array("ops".utf8))
        #expect(question.node == Array("x1nq4G0b".utf8) && question.parameters[.by] == Array("ops".utf8))
        #expect(FleetQuestion.closeReason(question.parameters[.reason] ?? []) == .forbidden)
        #expect(FleetQuestion.closeReason([]) == .restart && !question.isShared)
        #expect(question.shards(of: 2) == 1..<2 && question.shards(of: 1).isEmpty, "one shard alone is asked")
        for id in [
            "", "a", "a.1024.1", "a.01.1", "a.1.-1", "a.1.99999999999999999999", "a.1", "a.1.x", "a.x.1", ".1.1",
            "a.1.1.1", "a/b.1.1",
        ] {
            #expect(throws: Refusal.self) { try FleetQuestion(.close, ofSession: Array(id.utf8), query: [], key: []) }
        }
    }

    /// An erasure took a place in the rate of questions, and was dropped without a word beyond it.
    @Test func anErasureIsNotLimitedAndConcernsEveryShard() {
        let erasure = FleetQuestion(.forget, [.user: Array("ann".utf8)])
        #expect(!erasure.isLimited && erasure.shards(of: 3) == 0..<3)
        for kind in FleetQuestion.Kind.allCases where kind != .forget { #expect(FleetQuestion(kind).isLimited) }
        #expect(FleetQuestion(.nodes).shards(of: 3) == 0..<1 && FleetQuestion(.nodes).shards(of: 0).isEmpty)
    }

    @Test func everyQuestionSurvivesTheWayToAnotherNode() throws {
        for kind in FleetQuestion.Kind.allCases {
            let question = FleetQuestion(kind, [.user: Array("ann".utf8)], limit: 3)
            #expect(FleetMessage(FleetMessage.question(question, number: 1, wallMs: 2).text) != nil, "\(kind)")
        }
    }
}
