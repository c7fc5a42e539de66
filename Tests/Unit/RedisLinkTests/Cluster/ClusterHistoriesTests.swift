import Testing

@testable import RedisLink

/// P is a master of the cluster, Q the replica that follows it, and `a` the history that P wrote; R is another master.
@Suite struct ClusterHistoriesTests {
    static let p = Array("p".utf8)
    static let q = Array("q".utf8)
    static let r = Array("r".utf8)
    static let address = ClusterAddress(host: "10.0.0.1", port: 6379)
    static let next = ClusterAddress(host: "10.0.0.2", port: 6379)

    typealias Says = MasterHistoryTests

    static func afterP() throws -> ClusterHistories {
        var histories = ClusterHistories(nodesMax: 10)
        let facts = try Says.says("1", of: "a")
        #expect(histories.judge(p, facts) == .same)
        #expect(histories.settle(p, at: address, facts, after: nil) == [])
        return histories
    }

    @Test func aMasterThatFollowsOneThatWasSeenAdmitsItsHistoryWhenThatOneProvesIt() throws {
        var histories = try ClusterHistoriesTests.afterP()
        let next = try Says.says("2", of: "b", former: "a", until: 400)
        guard case .follows(let old) = histories.judge(ClusterHistoriesTests.q, next) else {
            Issue.record("it follows nobody")
            return
        }
        #expect(old.address == ClusterHistoriesTests.address && old.history == bytes(Says.id("a")))
        let joined = try Says.says("1", role: "slave", of: "b", former: "a", until: 400)
        #expect(ClusterHistories.proof(of: old, in: next, by: joined) == .whole)
        let admitted = histories.settle(ClusterHistoriesTests.q, at: ClusterHistoriesTests.next, next, after: old)
        #expect(admitted == [bytes(Says.id("a"))])
        // Another connection to it, and each probe, find what is known.
        #expect(histories.judge(ClusterHistoriesTests.q, next) == .same)
        #expect(histories.settle(ClusterHistoriesTests.q, at: ClusterHistoriesTests.next, next, after: nil) == admitted)
        // And back, where P is remembered with another history.
        let back = try Says.says("1", of: "c", former: "b", until: 600)
        guard case .follows(let left) = histories.judge(ClusterHistoriesTests.p, back) else {
            Issue.record("the way back follows nobody")
            return
        }
        #expect(left.address == ClusterHistoriesTests.next)
        #expect(
            histories.settle(ClusterHistoriesTests.p, at: ClusterHistoriesTests.address, back, after: left)
                == ["b", "a"].map { bytes(Says.id($0)) })
    }

    @Test func anOldMasterThatHasNotHeardYetIsAskedAgain() throws {
        let histories = try ClusterHistoriesTests.afterP()
        let next = try Says.says("2", of: "b", former: "a", until: 400)
        guard case .follows(let old) = histories.judge(ClusterHistoriesTests.q, next) else {
            Issue.record("it follows nobody")
            return
        }
        for facts in [try Says.says("1", of: "a"), try Says.says("1", role: "slave", of: "a")] {
            #expect(ClusterHistories.proof(of: old, in: next, by: facts) == .notYet)
        }
    }

    /// One of the counterexamples, by what the old master says at the end.
    struct Broken: Sendable {
        let name: String
        var process = "1"
        var role = "slave"
        var history = "b"
        var former: String? = "a"
        var end = 400
        var more: [String] = []
    }

    static let counterexamples: [Broken] = [
        Broken(name: "C1: P was synchronised in full, and what it added is gone", former: nil, end: -1),
        Broken(name: "C3: the offsets agree, the histories do not", former: "d"),
        Broken(name: "C5: P writes again", role: "master"),
        Broken(name: "C7, C8: P has bytes behind the end that Q has", end: 401),
        Broken(name: "C9: P was restarted empty", process: "3"),
        Broken(name: "P follows somebody else", history: "d"),
        Broken(name: "P takes writes as a replica", more: ["slave_read_only:0"]),
    ]

    @Test(arguments: counterexamples.indices)
    func withoutAnyOneConditionNothingIsEverProven(_ index: Int) throws {
        let broken = ClusterHistoriesTests.counterexamples[index]
        let histories = try ClusterHistoriesTests.afterP()
        let next = try Says.says("2", of: "b", former: "a", until: 400)
        guard case .follows(let old) = histories.judge(ClusterHistoriesTests.q, next) else {
            Issue.record("it follows nobody")
            return
        }
        let facts = try Says.says(
            broken.process, role: broken.role, of: broken.history, former: broken.former, until: broken.end,
            more: broken.more)
        #expect(ClusterHistories.proof(of: old, in: next, by: facts) == .never, "\(broken.name)")
    }

    /// C6: who forgot that it was a replica, C9: who was restarted under the same node id, C4: who goes on after a stop.
    @Test func aNodeWithAnotherHistoryThatFollowsNobodyBeginsAnew() throws {
        let histories = try ClusterHistoriesTests.afterP()
        for facts in [
            try Says.says("1", of: "e"), try Says.says("3", of: "e"), try Says.says("1", of: "e", former: "a"),
            try Says.says("1", of: "c", former: "b", until: 600),
        ] {
            #expect(histories.judge(ClusterHistoriesTests.p, facts) == .begins)
        }
        let forgotten = try Says.says("2", of: "b")
        #expect(histories.judge(ClusterHistoriesTests.q, forgotten) == .same, "a node that was never seen")
    }

    /// C10: what a failover proved holds for that server, and a slot that moved there from another master brings nothing.
    @Test func whatOneMasterAdmitsNoOtherDoes() throws {
        var histories = try ClusterHistoriesTests.afterP()
        let other = try Says.says("7", of: "f")
        #expect(histories.settle(ClusterHistoriesTests.r, at: ClusterHistoriesTests.next, other, after: nil) == [])
        let next = try Says.says("2", of: "b", former: "a", until: 400)
        guard case .follows(let old) = histories.judge(ClusterHistoriesTests.q, next) else {
            Issue.record("it follows nobody")
            return
        }
        _ = histories.settle(ClusterHistoriesTests.q, at: ClusterHistoriesTests.next, next, after: old)
        #expect(histories.settle(ClusterHistoriesTests.r, at: ClusterHistoriesTests.next, other, after: nil) == [])
    }

    @Test func theNodeThatChangedLongestAgoIsForgottenFirst() throws {
        var histories = ClusterHistories(nodesMax: 2)
        for (node, letter) in [("n1", "a"), ("n2", "b"), ("n3", "c")] {
            let facts = try Says.says("1", of: letter)
            _ = histories.settle(Array(node.utf8), at: ClusterHistoriesTests.address, facts, after: nil)
        }
        let follower = try Says.says("2", of: "d", former: "a", until: 400)
        #expect(histories.judge(Array("n4".utf8), follower) == .same, "nobody remembers the first")
        let another = try Says.says("2", of: "d", former: "b", until: 400)
        #expect(histories.judge(Array("n4".utf8), another) != .same)
    }
}
